import type { UseQueryResult } from '@tanstack/react-query';
import { useId } from 'react';
import { Link } from 'wouter';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Alert } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { toVisibleText } from '../../ui/visible-json.js';
import type { ConnectionToSignIn } from '../connection/connection-types.js';
import { SignInGoesOn } from '../connection/connection-dialog.js';
import { useSignIn } from '../connection/sign-in.js';
import './requests.css';

/** The connections that need a sign-in of the person. Nothing is shown where there are none. */
export function WaitingConnections({ query }: { query: UseQueryResult<ConnectionToSignIn[]> }) {
  const { data, error, refetch, isFetching } = query;
  const signIn = useSignIn(() => document.getElementById('main')?.focus());
  if (data === undefined) return <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  if (data.length === 0) return null;
  return (
    <section aria-label="Connections" className="inbox-list">
      <p>{data.length === 1 ? '1 connection needs a sign-in.' : `${data.length} connections need a sign-in.`}</p>
      {signIn.problem !== undefined && <Alert>{signIn.problem}</Alert>}
      {data.map((connection) => (
        <SignInArticle key={connection.id} connection={connection} signIn={signIn} />
      ))}
    </section>
  );
}

interface SignInArticleProps {
  connection: ConnectionToSignIn;
  signIn: ReturnType<typeof useSignIn>;
}

/** One connection whose grant is gone, and how many runs wait for it. */
export function SignInArticle({ connection, signIn }: SignInArticleProps) {
  const headingId = useId();
  const { id, name, status, status_reason: reason, project, waiting_runs: runs } = connection;
  const isCurrent = signIn.current?.id === id;
  return (
    <article className="card" aria-labelledby={headingId}>
      <header className="request-head">
        <h2 id={headingId} className="request-title">
          Sign in again: {toVisibleText(name)}
        </h2>
        <Status status={status} />
      </header>
      <dl className="request-facts">
        <dt>Project</dt>
        <dd>
          <Link href={`/settings?tab=connections&project=${project.id}`}>{project.name}</Link>
        </dd>
        {reason !== null && (
          <>
            <dt>Reason</dt>
            <dd>{reason}</dd>
          </>
        )}
        <dt>Waiting</dt>
        <dd>{runs === 0 ? 'No run waits yet' : runs === 1 ? '1 run waits' : `${runs} runs wait`}</dd>
      </dl>
      {isCurrent && !signIn.isBeginning && <SignInGoesOn />}
      <div className="task-buttons">
        <Button
          variant="primary"
          isBusy={isCurrent && signIn.isBeginning}
          onClick={() => signIn.begin({ projectId: project.id, id })}
        >
          Sign in
        </Button>
      </div>
    </article>
  );
}
