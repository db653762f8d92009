import { useState } from 'react';
import { FailedChoices } from '../../service/problem.js';
import { mayAct, useProjectRole, type Role } from '../../service/projects.js';
import { MASK } from '../../../graph/mask-text.js';
import { coversServer } from '../../../graph/origins.js';
import { openWithArrows } from '../../forms/fields.js';
import { useFieldError, type SchemaFieldProps } from '../../forms/form.js';
import { descriptionOf } from '../../forms/schema.js';
import { Button } from '../../ui/button.js';
import { Field, Hint } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';
import { Status, statusWord } from '../../ui/status.js';
import { useConnections } from './connection-calls.js';
import type { Connection } from './connection-types.js';
import { NewConnectionDialog, SignInGoesOn } from './connection-dialog.js';
import { needsSignIn } from './connection-fields.js';
import './connections.css';
import { useSignIn } from './sign-in.js';

type ConnectionFieldProps = SchemaFieldProps & {
  projectId: number;
  /** The server of an action. Only connections that cover it, and the chosen one, are offered. */
  server?: string | undefined;
  /** The id of the service for which a new connection is made. */
  service?: string | undefined;
};

/** Selects a connection of the project. People who may not list connections only see whether one is selected. */
export function ConnectionField(props: ConnectionFieldProps) {
  const { role, isKnown } = useProjectRole(props.projectId);
  if (!isKnown) return null;
  if (role !== undefined && mayAct(role, 'editor')) return <ConnectionChoice role={role} {...props} />;
  const isChosen = props.value !== undefined && props.value !== null;
  return (
    <div className="field">
      <span className="field-label">{props.label}</span>
      <p>{isChosen ? MASK : 'None'}</p>
      {isChosen && <Hint>Only editors of the project see which connection this is.</Hint>}
    </div>
  );
}

const NEW = '\u0000new';

function ConnectionChoice({ projectId, role, server, service, ...field }: ConnectionFieldProps & { role: Role }) {
  const { schema, path, label, value, onChange } = field;
  const refused = useFieldError(path);
  const [isMaking, setIsMaking] = useState(false);
  const query = useConnections(projectId);
  const chosen = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const connection = query.data?.find(({ id }) => String(id) === chosen);
  const covers = ({ origins }: Connection): boolean => server === undefined || coversServer(origins, server);
  const offered = query.data?.filter((each) => each === connection || covers(each)) ?? [];
  const isElsewhere = connection !== undefined && !covers(connection);
  // A newly created connection is not in the list before the next refetch.
  const isMissing = chosen !== '' && query.data !== undefined && connection === undefined && !query.isFetching;
  const wrong = isMissing
    ? 'The project has no such connection. Choose another one.'
    : isElsewhere
      ? `The connection does not go to ${originOf(server)}. Choose another one.`
      : undefined;
  const isAdmin = mayAct(role, 'admin');
  return (
    <div className="connection-field" data-path={path.join('.')}>
      <Field label={label} hint={descriptionOf(schema)} error={refused ?? wrong}>
        {(control) => (
          <select
            className="control"
            value={chosen}
            onKeyDown={openWithArrows}
            onChange={({ target }) => {
              if (target.value === NEW) setIsMaking(true);
              else onChange(path, target.value === '' ? undefined : Number(target.value));
            }}
            {...control}
          >
            <option value="">None</option>
            {chosen !== '' && connection === undefined && (
              <option value={chosen}>
                Connection {chosen}
                {isMissing && ' (missing)'}
              </option>
            )}
            {offered.map((each) => (
              <option key={each.id} value={each.id}>
                {optionText(each)}
              </option>
            ))}
            {isAdmin && <option value={NEW}>New connection</option>}
          </select>
        )}
      </Field>
      <FailedChoices noun="connections" query={query} />
      {offered.length < (query.data?.length ?? 0) && (
        <Hint>{`Only connections that go to ${originOf(server)} are offered.`}</Hint>
      )}
      {connection !== undefined && connection.status !== 'ready' && (
        <NotReady projectId={projectId} connection={connection} isAdmin={isAdmin} />
      )}
      {isMaking && (
        <NewConnectionDialog
          projectId={projectId}
          service={service}
          onClose={() => setIsMaking(false)}
          onMade={({ id }) => onChange(path, id)}
        />
      )}
    </div>
  );
}

/** Returns scheme, host and port of a server, whose host may have names in braces. */
function originOf(server = ''): string {
  return /^[^/]*\/\/[^/]*/.exec(server)?.[0] ?? server;
}

/** Names the status only if the connection is not ready. */
function optionText({ name, status }: Connection): string {
  return status === 'ready' ? name : `${name} (${statusWord(status)})`;
}

interface NotReadyProps {
  projectId: number;
  connection: Connection;
  isAdmin: boolean;
}

function NotReady({ projectId, connection, isAdmin }: NotReadyProps) {
  const signIn = useSignIn();
  const { id, kind, status, status_reason: reason } = connection;
  return (
    <>
      <div className="connection-state">
        <Status status={status} />
        {reason !== null && <span className="connection-waits">{reason}</span>}
        {isAdmin && needsSignIn(kind) && (
          <Button isBusy={signIn.isStarting} onClick={() => signIn.start({ projectId, id })}>
            Sign in
          </Button>
        )}
      </div>
      {!isAdmin && status === 'needs_authorization' && (
        <Hint>An owner or admin of the project has to sign in. Until then the node waits.</Hint>
      )}
      {signIn.current !== undefined && !signIn.isStarting && <SignInGoesOn />}
      {signIn.problem !== undefined && <Alert>{signIn.problem}</Alert>}
    </>
  );
}
