import { Link } from 'wouter';
import { mayAct, useProjectRole } from '../../service/projects.js';
import { Time } from '../../ui/figures.js';
import { useConnections } from './connection-calls.js';

interface ConnectionWaitProps {
  projectId: number;
  connectionId: number | undefined;
  until: string | undefined;
}

/** Explains who can end the wait, and links to the connection for people who may sign in. */
export function ConnectionWait({ projectId, connectionId, until }: ConnectionWaitProps) {
  const { role } = useProjectRole(projectId);
  const connections = useConnections(projectId, role !== undefined && mayAct(role, 'editor'));
  const name = connections.data?.find(({ id }) => id === connectionId)?.name;
  return (
    <p>
      The node waits until somebody has signed in for {name === undefined ? 'its connection' : 'the connection '}
      {name !== undefined && <strong>{name}</strong>}, or until <Time at={until} />. Then it makes its call.{' '}
      {role !== undefined && mayAct(role, 'admin') ? (
        <Link href={`/settings?tab=connections&project=${projectId}`}>Go to the connection</Link>
      ) : (
        'Owners and admins of the project can sign in.'
      )}
    </p>
  );
}
