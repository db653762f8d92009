import { useState } from 'react';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { useUser } from '../../../app/session.js';
import { Button } from '../../../ui/button.js';
import { NewSecret } from '../../../ui/copy-button.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import { Time } from '../../../ui/figures.js';
import { Loading, Note } from '../../../ui/notices.js';
import { Table, type Column } from '../../../ui/table.js';
import type { Project } from '../use-projects.js';
import { KeyDialog } from './key-dialog.js';
import { SCOPES } from './key-fields.js';
import { deleteKey, useKeys, type Key, type NewKey } from './use-keys.js';

type Open = { dialog: 'new' } | { dialog: 'edit' | 'delete'; key: Key };

/** The person's own keys, of whatever project. */
export function KeysTab({ projects }: { projects: readonly Project[] }) {
  const user = useUser();
  const { data, error, refetch, isFetching } = useKeys();
  const [open, setOpen] = useState<Open>();
  const [made, setMade] = useState<NewKey>();
  const close = (): void => setOpen(undefined);
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        Programs call the service with a key. It can do what you can, or less, and never see or make keys.
        {user?.api_access === false && ' Your keys are refused until an administrator grants you API access.'}
      </p>
      <p>
        <Button variant="primary" onClick={() => setOpen({ dialog: 'new' })}>
          Create key
        </Button>
      </p>
      {made !== undefined && (
        <NewSecret
          title="Your new key"
          text={made.api_key}
          copyLabel="Copy key"
          onDone={() => setMade(undefined)}
          key={made.id}
        />
      )}
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data?.length === 0 && (
        <Note>You have no keys. Create one for each program, so that you can take it back alone.</Note>
      )}
      {data !== undefined && data.length > 0 && (
        <Table label="API keys" columns={columnsOf(projects, setOpen)} rows={data} keyOf={({ id }) => id} />
      )}
      {open?.dialog === 'new' && <KeyDialog projects={projects} onClose={close} onCreated={setMade} />}
      {open?.dialog === 'edit' && <KeyDialog of={open.key} projects={projects} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteKey of={open.key} onClose={close} />}
    </div>
  );
}

function columnsOf(projects: readonly Project[], open: (what: Open) => void): Column<Key>[] {
  const nameOf = (id: number): string => projects.find((project) => project.id === id)?.name ?? `Project ${id}`;
  return [
    { heading: 'Label', cell: ({ label }) => label || 'No label', isName: true },
    { heading: 'Ends in', cell: ({ hint }) => <code>{hint}</code> },
    { heading: 'Reaches', cell: ({ project }) => (project === null ? 'All my projects' : nameOf(project)) },
    { heading: 'May', cell: ({ scope }) => SCOPES[scope] },
    { heading: 'Expires', cell: ({ expires_at }) => (expires_at === null ? 'Never' : <Time at={expires_at} />) },
    { heading: 'Requests a minute', cell: (key) => key.rate_limit ?? 'Default', isFigure: true },
    { heading: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (key) => (
        <span className="settings-buttons">
          <Button variant="quiet" onClick={() => open({ dialog: 'edit', key })}>
            Edit
          </Button>
          <Button variant="quiet" onClick={() => open({ dialog: 'delete', key })}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
}

function DeleteKey({ of, onClose }: { of: Key; onClose: () => void }) {
  const change = useChange(() => deleteKey(of.id), {
    invalidates: ['api-keys'],
    said: 'The key is deleted.',
    onSuccess: onClose,
  });
  return (
    <ConfirmDialog
      title="Delete key"
      confirmLabel="Delete"
      isDangerous
      isBusy={change.isPending}
      onConfirm={() => change.mutate()}
      onCancel={onClose}
    >
      <p>
        The key <strong>{of.label || 'without a label'}</strong> that ends in <code>{of.hint}</code> is refused from now
        on. Programs that use it stop working.
      </p>
      <Problem error={change.error} />
    </ConfirmDialog>
  );
}
