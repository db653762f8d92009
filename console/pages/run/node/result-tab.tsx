import type { NodeEntry } from '../../../live/live-run.js';
import { Time } from '../../../ui/figures.js';
import { ContentView } from '../content/content-view.js';
import { JsonTree } from '../content/json-tree.js';
import type { ApprovalRequest, NodeDetail } from '../run-data.js';
import { AgentSteps } from './agent-steps.js';
import { ChildLink } from './child-link.js';
import { Failure } from './failure.js';
import type { NodeAddress } from './node-detail.js';
import { readResult } from './result-parts.js';
import { Unfinished } from './unfinished.js';

interface ResultTabProps {
  address: NodeAddress;
  entry: NodeEntry;
  /** Undefined until it is read. */
  detail: NodeDetail | undefined;
  /** Names files of downloads. */
  label: string;
  /** The node's requests that nobody has decided. */
  pending: readonly ApprovalRequest[];
  /** Since then the contents are gone. */
  expiredAt: string | undefined;
}

export function ResultTab({ address, ...shown }: ResultTabProps) {
  return (
    <div className="node-part">
      <Result {...shown} />
      <AgentSteps address={address} entry={shown.entry} />
    </div>
  );
}

function Result({ entry, detail, label, pending, expiredAt }: Omit<ResultTabProps, 'address'>) {
  if (entry.status === 'failed') return <Failure entry={entry} detail={detail} />;
  if (entry.status !== 'succeed') return <Unfinished pending={pending} waiting={entry.waiting} />;
  if (expiredAt !== undefined) {
    return (
      <p>
        The result has expired: it was removed on <Time at={expiredAt} />.
      </p>
    );
  }
  const { content, isAnswer, childRun, rest } = readResult(entry.result);
  return (
    <div className="node-part">
      {childRun !== undefined && <ChildLink runId={childRun} />}
      {content !== undefined && <ContentView text={content} name={label} isAnswer={isAnswer} />}
      {Object.keys(rest).length > 0 && (
        <section className="node-part" aria-label="Further fields">
          <h3>Further fields</h3>
          <JsonTree value={rest} depth={1} />
        </section>
      )}
    </div>
  );
}
