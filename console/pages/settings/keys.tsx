import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, unwrap, type paths } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { fieldErrors } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import type { Project } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { useUser } from '../../service/session.js';
import { Button } from '../../ui/button.js';
import { NewSecret } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { Table, type Column } from '../../ui/table.js';
import { NEW_KEY, SCOPES, toBody, toFields, type KeyBody, type KeyFields, type KeyScope } from './key-fields.js';

type Open = { dialog: 'new' } | { dialog: 'edit' | 'delete'; key: Key };

/** The person's own API keys, whichever projects they reach. */
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
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.length === 0 && (
        <Note>You have no keys. Create one for each program, so that you can take it back alone.</Note>
      )}
      {data !== undefined && data.length > 0 && (
        <Table label="API keys" hasCards columns={columnsOf(projects, setOpen)} rows={data} keyOf={({ id }) => id} />
      )}
      {open?.dialog === 'new' && <KeyDialog projects={projects} onClose={close} onCreated={setMade} />}
      {open?.dialog === 'edit' && <KeyDialog of={open.key} projects={projects} onClose={close} />}
      {open?.dialog === 'delete' && (
        <ConfirmDelete noun="key" remove={() => deleteKey(open.key.id)} invalidates={['api-keys']} onClose={close}>
          The key <strong>{open.key.label || 'without a label'}</strong> that ends in <code>{open.key.hint}</code> is
          refused from now on. Programs that use it stop working.
        </ConfirmDelete>
      )}
    </div>
  );
}

function columnsOf(projects: readonly Project[], open: (what: Open) => void): Column<Key>[] {
  const nameOf = (id: number): string => projects.find((project) => project.id === id)?.name ?? `Project ${id}`;
  return [
    { heading: 'Label', cell: ({ label }) => label || 'No label', isName: true },
    { heading: 'Ends in', cell: ({ hint }) => <code>{hint}</code> },
    { heading: 'Reaches', cell: ({ project }) => (project === null ? 'All my projects' : nameOf(project)) },
    { heading: 'Scope', cell: ({ scope }) => SCOPES[scope] },
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

interface KeyDialogProps {
  /** The key to edit; a new one by default. */
  of?: Key;
  projects: readonly Project[];
  onClose: () => void;
  onCreated?: (key: NewKey) => void;
}

function KeyDialog({ of, projects, onClose, onCreated }: KeyDialogProps) {
  const [before] = useState(() => (of === undefined ? NEW_KEY : toFields(of)));
  const [fields, setFields] = useState<KeyFields>(before);
  const isAdmin = useUser()?.is_admin === true;
  const change = useChange(() => save(of, before, fields), {
    invalidates: ['api-keys'],
    announcement: of === undefined ? 'The key is made. Copy it now: it is shown once.' : 'The key is changed.',
    onSuccess: (key) => {
      if ('api_key' in key) onCreated?.(key);
      onClose();
    },
  });
  const errors = fieldErrors(change.error);
  const expires = useRef<HTMLInputElement>(null);
  const [isTimePartial, setIsTimePartial] = useState(false);
  const set = (changed: Partial<KeyFields>): void => setFields({ ...fields, ...changed });
  const submit = (): void => {
    if (change.isPending) return;
    // The value of a partly filled field is empty, which would mean that the key never expires. Typing a part of a time
    // into an empty field does not even cause an event, so the field is asked here.
    const isPartial = expires.current?.validity.badInput === true;
    setIsTimePartial(isPartial);
    if (isPartial) expires.current?.focus();
    else change.mutate();
  };
  return (
    <Dialog
      title={of === undefined ? 'Create key' : 'Edit key'}
      onClose={onClose}
      holdsText
      footer={
        <Button variant="primary" isBusy={change.isPending} onClick={submit}>
          {of === undefined ? 'Create key' : 'Save'}
        </Button>
      }
    >
      <Problem error={change.error} fields={['label', 'expires_at', 'project', 'scope', 'rate_limit']} />
      <TextField
        label="Label"
        hint="What it is for, so that you know it again."
        value={fields.label}
        onChange={(label) => set({ label })}
        maxLength={100}
        error={errors['label']}
        onKeyDown={({ key, nativeEvent }) => key === 'Enter' && !nativeEvent.isComposing && submit()}
      />
      <TextField
        label="Expires"
        hint="Empty: never. From then on the key is refused."
        type="datetime-local"
        ref={expires}
        value={fields.expires}
        onChange={(time) => {
          setIsTimePartial(false);
          set({ expires: time });
        }}
        error={isTimePartial ? 'Fill in the date and the time, or clear both.' : errors['expires_at']}
      />
      <SelectField
        label="Restricted to"
        hint="A key that leaves your hands should reach one project only."
        value={fields.project}
        onChange={(project) => set({ project })}
        error={errors['project']}
        options={choicesOf(projects, before.project)}
      />
      <SelectField
        label="Scope"
        hint="A key that only starts runs should be able to do no more."
        value={fields.scope}
        onChange={(scope) => set({ scope: scope as KeyScope })}
        error={errors['scope']}
        options={Object.entries(SCOPES).map(([value, label]) => ({ value, label }))}
      />
      {isAdmin && (
        <TextField
          label="Requests a minute"
          hint="Empty: the default."
          inputMode="numeric"
          value={fields.rateLimit}
          onChange={(rateLimit) => set({ rateLimit })}
          error={errors['rate_limit']}
        />
      )}
    </Dialog>
  );
}

function save(of: Key | undefined, before: KeyFields, fields: KeyFields): Promise<Key | NewKey> {
  const body = toBody(before, fields);
  return of === undefined ? createKey(body) : changeKey(of.id, body);
}

/** The project of an older key may be deleted or no longer accessible. */
function choicesOf(projects: readonly Project[], chosen: string) {
  const known = projects.map(({ id, name }) => ({ value: String(id), label: name }));
  const isLost = chosen !== '' && !known.some(({ value }) => value === chosen);
  return [
    { value: '', label: 'All my projects' },
    ...known,
    ...(isLost ? [{ value: chosen, label: `Project ${chosen}, which is not yours any more` }] : []),
  ];
}

type List = paths['/api/v1/api-keys/']['get']['responses'][200]['content']['application/json'];
type Key = List['items'][number];
type NewKey = paths['/api/v1/api-keys/']['post']['responses'][201]['content']['application/json'];

/** A user has at most 100 keys. */
function useKeys(): UseQueryResult<Key[]> {
  return useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) =>
      readAllPages((page) => unwrap(api.GET('/api/v1/api-keys/', { params: { query: { page, size: 100 } }, signal }))),
  });
}

function createKey(body: KeyBody): Promise<NewKey> {
  return unwrap(api.POST('/api/v1/api-keys/', { body }));
}

function changeKey(id: number, body: KeyBody): Promise<Key> {
  return unwrap(api.PATCH('/api/v1/api-keys/{id}/', { params: { path: { id } }, body }));
}

function deleteKey(id: number): Promise<unknown> {
  return unwrap(api.DELETE('/api/v1/api-keys/{id}/', { params: { path: { id } } }));
}
