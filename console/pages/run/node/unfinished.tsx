import { Link } from 'wouter';
import type { NodeEntry } from '../../../live/live-run.js';
import { CopyButton } from '../../../ui/copy-button.js';
import { Time } from '../../../ui/figures.js';
import type { ApprovalRequest } from '../run-data.js';
import { ChildLink } from './child-link.js';

interface UnfinishedProps {
  waiting: NodeEntry['waiting'];
  /** The node's requests that nobody has decided. */
  pending: readonly ApprovalRequest[];
}

/** What a node waits for, and how a person can help. */
export function Unfinished({ waiting, pending }: UnfinishedProps) {
  if (pending.length > 0) return <Requests pending={pending} />;
  switch (waiting?.for) {
    case 'child':
      return (
        <div className="node-part">
          <p>The node waits for the end of another run. Its result appears here.</p>
          {waiting.run_id !== undefined && <ChildLink runId={waiting.run_id} />}
        </div>
      );
    case 'callback':
      return <Callback url={waiting.callback_url} until={waiting.until} />;
    case 'human':
      return (
        <p>
          The node waits for a person until <Time at={waiting.until} />.{' '}
          {waiting.task_id !== undefined && (
            <Link href={`/inbox/${encodeURIComponent(waiting.task_id)}`}>Open the task</Link>
          )}
        </p>
      );
    case 'time':
      return (
        <p>
          The node waits until <Time at={waiting.until} />.
        </p>
      );
    case 'approval':
    case undefined:
    default:
      return <p>The node has not ended yet. Its result appears here.</p>;
  }
}

function Callback({ url, until }: { url: string | undefined; until: string }) {
  return (
    <div className="node-part">
      <p>
        The node waits for a callback until <Time at={until} />. What is sent to its address becomes its result.
      </p>
      {url !== undefined && (
        <>
          <pre className="node-step-text">{url}</pre>
          <p>
            <CopyButton text={url} label="Copy address" />
          </p>
        </>
      )}
    </div>
  );
}

function Requests({ pending }: Pick<UnfinishedProps, 'pending'>) {
  return (
    <div className="node-part">
      <p>The node waits for a decision:</p>
      <ul className="node-part">
        {pending.map((request) => (
          <li key={request.request_id}>
            <Link href={`/inbox/${encodeURIComponent(request.request_id)}`}>Decide about {request.tool_name}</Link>{' '}
            until <Time at={request.expires_at} />
          </li>
        ))}
      </ul>
    </div>
  );
}
