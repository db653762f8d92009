import { Link } from 'wouter';
import type { NodeEntry } from '../../../live/live-run.js';
import { Time } from '../../../ui/time.js';
import { ContentView } from '../content/content-view.js';
import { JsonTree } from '../content/json-tree.js';
import type { ApprovalRequest } from '../run-data.js';
import { AgentSteps } from './agent-steps.js';
import { readRefusal, readResult } from './result-parts.js';

interface ResultTabProps {
  entry: NodeEntry;
  /** Names files of downloads. */
  label: string;
  /** The node's requests that nobody has decided. */
  pending: readonly ApprovalRequest[];
  /** Since then the contents are gone. */
  expiredAt: string | undefined;
}

export function ResultTab({ entry, label, pending, expiredAt }: ResultTabProps) {
  if (entry.status === 'failed') return <Failure entry={entry} />;
  if (entry.status !== 'succeed') return <Unfinished pending={pending} />;
  if (expiredAt !== undefined) {
    return (
      <p>
        The result has expired: it was removed on <Time at={expiredAt} />.
      </p>
    );
  }
  const { content, isAnswer, steps, rest } = readResult(entry.result);
  return (
    <div className="node-part">
      {content !== undefined && <ContentView text={content} name={label} isAnswer={isAnswer} />}
      {steps.length > 0 && <AgentSteps steps={steps} />}
      {Object.keys(rest).length > 0 && (
        <section className="node-part" aria-label="Further fields">
          <h3>Further fields</h3>
          <JsonTree value={rest} depth={1} />
        </section>
      )}
    </div>
  );
}

function Failure({ entry }: { entry: NodeEntry }) {
  const refusal = readRefusal(entry.result);
  if (refusal.length > 0) {
    return (
      <div className="node-part">
        <p>The node was not valid, so the run did not begin.</p>
        <ul className="node-refusal">
          {refusal.map(({ field, sentence }) => (
            <li key={`${field} ${sentence}`}>
              <code>{field}</code>: {sentence}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <div className="node-error">
      <code className="node-error-code">{entry.error?.code ?? 'failed'}</code>
      <p className="node-error-message">{entry.error?.message ?? 'The node failed.'}</p>
    </div>
  );
}

function Unfinished({ pending }: { pending: readonly ApprovalRequest[] }) {
  if (pending.length === 0) return <p>The node has not ended yet. Its result appears here.</p>;
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
