import { ownValue } from '../../../drawing/json.js';
import type { NodeEntry } from '../../../live/live-run.js';
import { CodeLines } from '../content/code-lines.js';
import type { NodeDetail } from '../run-data.js';
import { ChildLink } from './child-link.js';
import { failedChild, lineOfError } from './failure-parts.js';
import { readRefusal } from './result-parts.js';

interface FailureProps {
  entry: NodeEntry;
  /** Undefined until it is read. */
  detail: NodeDetail | undefined;
}

/** Why a node has failed, and what helps to find out more: its code, or the run that it had started. */
export function Failure({ entry, detail }: FailureProps) {
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
  const { error } = entry;
  const childRun = failedChild(error);
  const code = error?.code === 'code_error' && detail?.input ? ownValue(detail.input, 'code') : undefined;
  return (
    <div className="node-part">
      <div className="node-error">
        <code className="node-error-code">{error?.code ?? 'failed'}</code>
        <p className="node-error-message">{error?.message ?? 'The node failed.'}</p>
      </div>
      {childRun !== undefined && <ChildLink runId={childRun} />}
      {typeof code === 'string' && <CodeLines code={code} marked={lineOfError(error)} />}
    </div>
  );
}
