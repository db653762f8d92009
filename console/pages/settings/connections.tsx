import { useState } from 'react';
import { Link } from 'wouter';
import { ServiceError } from '../../service/api.js';
import { ConfirmChange } from '../../service/confirm-change.js';
import { explain } from '../../service/explain.js';
import { QueryPlaceholder } from '../../service/problem.js';
import { mayAct, type Project } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { useSearchState } from '../../service/search-state.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Time } from '../../ui/figures.js';
import { Alert, Note } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { Table, type Column } from '../../ui/table.js';
import {
  CONNECTIONS,
  deleteConnection,
  testConnection,
  useConnections,
  useUsedBy,
} from '../../parts/connection/connection-calls.js';
import type { Connection } from '../../parts/connection/connection-types.js';
import { EditConnectionDialog, NewConnectionDialog, SignInGoesOn } from '../../parts/connection/connection-dialog.js';
import { KINDS, needsSignIn } from '../../parts/connection/connection-fields.js';
import { signInProblem, useSignIn } from '../../parts/connection/sign-in.js';

type Open = { dialog: 'new' } | { dialog: 'edit' | 'remove' | 'used-by'; connection: Connection };

/** The connections of the project. A failed sign-in redirects here with its error code: `?error=`. */
export function ConnectionsTab({ project }: { project: Project }) {
  const { get, set } = useSearchState();
  const { data, error, refetch, isFetching } = useConnections(project.id);
  const [open, setOpen] = useState<Open>();
  const signIn = useSignIn();
  const test = useTests(project.id);
  const isAdmin = mayAct(project.role, 'admin');
  const reason = get('error');
  const problem = signIn.problem ?? (reason === '' ? undefined : signInProblem(reason));
  const close = (): void => setOpen(undefined);
  const columns = columnsOf({
    isAdmin,
    open: setOpen,
    test,
    isStarting: (id) => signIn.isStarting && signIn.current?.id === id,
    signIn: (id) => {
      if (reason !== '') set({ error: '' });
      signIn.start({ projectId: project.id, id });
    },
  });
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        A connection holds the credential of a service. Nodes only choose the connection: the credential is never in a
        drawing, and it is sent to the addresses of the connection alone.
      </p>
      {isAdmin ? (
        <p>
          <Button variant="primary" onClick={() => setOpen({ dialog: 'new' })}>
            New connection
          </Button>
        </p>
      ) : (
        <Note>Your role in this project is {project.role}. Its admins and owners change the connections.</Note>
      )}
      {problem !== undefined && <Alert>{problem}</Alert>}
      {signIn.current !== undefined && !signIn.isStarting && <SignInGoesOn />}
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data !== undefined && (
        <Table
          label="Connections"
          hasCards
          columns={columns}
          rows={data}
          keyOf={({ id }) => id}
          empty="The project has no connections yet. Make one for each service that its workflows call."
        />
      )}
      {open?.dialog === 'new' && <NewConnectionDialog projectId={project.id} onClose={close} />}
      {open?.dialog === 'edit' && (
        <EditConnectionDialog projectId={project.id} connection={open.connection} onClose={close} />
      )}
      {open?.dialog === 'remove' && (
        <RemoveDialog projectId={project.id} connection={open.connection} onClose={close} />
      )}
      {open?.dialog === 'used-by' && (
        <UsedByDialog projectId={project.id} connection={open.connection} onClose={close} />
      )}
    </div>
  );
}

interface Tests {
  start: (id: number) => void;
  pending: number | undefined;
  outcomes: ReadonlyMap<number, string>;
}

function useTests(projectId: number): Tests {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<number, string>>(new Map());
  const show = (id: number, text: string): void => setOutcomes((before) => new Map(before).set(id, text));
  const change = useChange((id: number) => testConnection(projectId, id), {
    invalidates: [CONNECTIONS],
    announcement: 'The connection is tested.',
    onSuccess: ({ ok, message }, id) => show(id, `${ok ? 'Works' : 'Does not work'}. ${message}`),
  });
  return {
    start(id) {
      if (change.isPending) return;
      show(id, 'Testing…');
      change.mutate(id, { onError: (error) => show(id, explain(error)) });
    },
    pending: change.isPending ? change.variables : undefined,
    outcomes,
  };
}

interface ColumnOptions {
  isAdmin: boolean;
  open: (what: Open) => void;
  test: Tests;
  signIn: (id: number) => void;
  isStarting: (id: number) => boolean;
}

function columnsOf({ isAdmin, open, test, signIn, isStarting }: ColumnOptions): Column<Connection>[] {
  return [
    {
      heading: 'Name',
      cell: ({ name, kind }) => (
        <>
          <span className="settings-connection">{name}</span>
          <span className="settings-detail">{KINDS[kind].label}</span>
        </>
      ),
      isName: true,
    },
    {
      heading: 'Status',
      cell: ({ status, status_reason: reason, account }) => (
        <div className="settings-connection">
          <Status status={status} />
          {reason !== null && <span className="settings-detail">{reason}</span>}
          {account !== null && <span className="settings-detail">Signed in as {account}</span>}
        </div>
      ),
    },
    {
      heading: 'Goes to',
      cell: ({ origins }) => (
        <ul className="settings-origins">
          {origins.map((origin) => (
            <li key={origin}>{origin}</li>
          ))}
        </ul>
      ),
    },
    { heading: 'Expires', cell: ({ expires_at: at }) => <Time at={at} /> },
    { heading: 'Last use', cell: ({ last_used_at: at }) => <Time at={at} /> },
    {
      heading: 'Used by',
      cell: (connection) => (
        <Button variant="quiet" onClick={() => open({ dialog: 'used-by', connection })}>
          {connection.used_by === 1 ? '1 workflow' : `${connection.used_by} workflows`}
        </Button>
      ),
    },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (connection) => (
        <>
          <span className="settings-buttons">
            {isAdmin && needsSignIn(connection.kind) && (
              <Button
                variant={connection.status === 'needs_authorization' ? 'plain' : 'quiet'}
                isBusy={isStarting(connection.id)}
                onClick={() => signIn(connection.id)}
              >
                Sign in
              </Button>
            )}
            <Button variant="quiet" isBusy={test.pending === connection.id} onClick={() => test.start(connection.id)}>
              Test
            </Button>
            {isAdmin && (
              <>
                <Button variant="quiet" onClick={() => open({ dialog: 'edit', connection })}>
                  Edit
                </Button>
                <Button variant="quiet" onClick={() => open({ dialog: 'remove', connection })}>
                  Remove
                </Button>
              </>
            )}
          </span>
          {test.outcomes.has(connection.id) && (
            <span className="settings-detail settings-outcome" role="status">
              {test.outcomes.get(connection.id)}
            </span>
          )}
        </>
      ),
    },
  ];
}

interface ConnectionDialogProps {
  projectId: number;
  connection: Connection;
  onClose: () => void;
}

/**
 * Asks before removing the connection. While workflows use it, the service answers 409 with their names; a second click
 * then removes the connection anyway.
 */
function RemoveDialog({ projectId, connection: { id, name }, onClose }: ConnectionDialogProps) {
  const [isUsed, setIsUsed] = useState(false);
  const change = useChange(
    async () => {
      try {
        return await deleteConnection(projectId, id, isUsed);
      } catch (error) {
        if (error instanceof ServiceError && error.status === 409) setIsUsed(true);
        throw error;
      }
    },
    { invalidates: [CONNECTIONS], announcement: 'The connection is removed.', onSuccess: onClose },
  );
  return (
    <ConfirmChange
      title="Remove connection"
      confirmLabel={isUsed ? 'Remove anyway' : 'Remove'}
      isDangerous
      change={change}
      onClose={onClose}
    >
      <p>
        The credential of <strong>{name}</strong> is deleted for good. Nodes that name it fail from then on.
      </p>
    </ConfirmChange>
  );
}

function UsedByDialog({ projectId, connection: { id, name }, onClose }: ConnectionDialogProps) {
  const query = useUsedBy(projectId, id);
  const { workflows, runs } = query.data ?? { workflows: [], runs: [] };
  return (
    <Dialog title={`Used by: ${name}`} onClose={onClose}>
      <QueryPlaceholder {...query} />
      {query.data !== undefined && workflows.length === 0 && <p>No workflow names the connection.</p>}
      {workflows.length > 0 && (
        <section aria-label="Workflows">
          <h3>Workflows</h3>
          <ul>
            {workflows.map((workflow) => (
              <li key={workflow.id}>
                <Link href={`/workflows/${workflow.id}`}>{workflow.title}</Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {query.data !== undefined && runs.length === 0 && <p>No open run has used it or waits for it.</p>}
      {runs.length > 0 && (
        <section aria-label="Open runs">
          <h3>Open runs</h3>
          <ul>
            {runs.map((run) => (
              <li key={run.id}>
                <Link href={`/runs/${run.id}`}>{run.id.slice(0, 8)}</Link>
                {run.waits && ' waits for the connection'}
              </li>
            ))}
          </ul>
        </section>
      )}
    </Dialog>
  );
}
