import { useId } from 'react';
import { Link } from 'wouter';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/status.js';
import { toVisibleText } from '../../ui/visible-json.js';
import type { ConnectionToSignIn } from '../connection/connection-types.js';
import { SignInGoesOn } from '../connection/connection-dialog.js';
import type { useSignIn } from '../connection/sign-in.js';
import './requests.css';

interface SignInArticleProps {
  connection: ConnectionToSignIn;
  signIn: ReturnType<typeof useSignIn>;
}

/** A connection that needs a new sign-in, with the number of waiting runs. */
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
      {isCurrent && !signIn.isStarting && <SignInGoesOn />}
      <div className="task-buttons">
        <Button
          variant="primary"
          isBusy={isCurrent && signIn.isStarting}
          onClick={() => signIn.start({ projectId: project.id, id })}
        >
          Sign in
        </Button>
      </div>
    </article>
  );
}
