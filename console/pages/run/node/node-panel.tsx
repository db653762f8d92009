import { useState, type Ref } from 'react';
import { Link } from 'wouter';
import type { NodeEntry } from '../../../live/live-run.js';
import { statusOf } from '../../../live/node-status.js';
import { useIsWaiting, useNodeEntry, useNodeStatus } from '../../../live/run-cache.js';
import { Status } from '../../../ui/status.js';
import { Tabs } from '../../../ui/tabs.js';
import type { NodeChoice } from '../node-choice.js';
import { useApprovals, type RunDetail } from '../run-data.js';
import { ResumeFromHere } from '../actions/resume-from-here.js';
import { AttemptsTab } from './attempts-tab.js';
import { CostTab } from './cost-tab.js';
import { DetailTab } from './detail-tab.js';
import { InputTab } from './input-tab.js';
import { Iterations } from './iterations.js';
import { useNodeDetail } from './node-detail.js';
import './node-panel.css';
import { ResultTab } from './result-tab.js';

interface NodePanelProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice | undefined;
  onSelect: (choice: NodeChoice) => void;
  ref?: Ref<HTMLElement>;
}

/** One node of the run: what came out of it, what went in, how often it was tried, what it cost. */
export function NodePanel({ run, labels, choice, onSelect, ref }: NodePanelProps) {
  return (
    <section aria-label="Node" className="node-panel" ref={ref}>
      {choice === undefined ? (
        <p className="node-hint">Choose a node in the graph or in the timeline to see its result, input and cost.</p>
      ) : (
        <ChosenNode
          key={`${choice.nodeId} ${choice.path}`}
          run={run}
          label={labels.get(choice.nodeId) ?? choice.nodeId}
          labels={labels}
          choice={choice}
          onSelect={onSelect}
        />
      )}
    </section>
  );
}

interface ChosenNodeProps {
  run: RunDetail;
  label: string;
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice;
  onSelect: (choice: NodeChoice) => void;
}

function ChosenNode({ run, label, labels, choice, onSelect }: ChosenNodeProps) {
  const { nodeId, path } = choice;
  const [tab, setTab] = useState('result');
  const entry = useNodeEntry(run.id, nodeId, path);
  const isWaiting = useIsWaiting(run.id, nodeId, path);
  const unreached = useNodeStatus(run.id, nodeId);
  const address = { runId: run.id, workflowId: run.workflow.id, nodeId, path };
  const detail = useNodeDetail(address, entry, true);
  const requests = useApprovals(run.id).data ?? [];
  const pending = requests.filter(({ node_id: id, status }) => id === nodeId && status === 'pending');
  const status = entry === null ? unreached : statusOf(entry, isWaiting);
  const [word = '', ...more] = status.split(', ');
  return (
    <>
      <header className="node-head">
        <h2>{label}</h2>
        <Status status={word} {...(more.length === 0 ? {} : { suffix: more.join(', ') })} />
        {path === '' && <ResumeFromHere run={run} nodeId={nodeId} label={label} labels={labels} />}
      </header>
      {entry?.reused === true && (
        <p className="node-hint">
          The result is that of <Link href={`/runs/${run.resumed_from ?? ''}`}>the earlier run</Link>: nothing was
          executed, and nothing paid.
        </p>
      )}
      <Iterations runId={run.id} labels={labels} choice={choice} onSelect={onSelect} />
      {entry?.iterations !== undefined && <p className="node-hint">{iterationsInWords(entry.iterations)}</p>}
      {entry === null ? (
        <p className="node-hint">{HINTS[status] ?? 'Choose an iteration to see what the node did in it.'}</p>
      ) : (
        <Tabs
          label="Node"
          selected={tab}
          onSelect={setTab}
          tabs={[
            {
              id: 'result',
              label: 'Result',
              content: (
                <ResultTab
                  address={address}
                  entry={entry}
                  detail={detail.data}
                  label={label}
                  pending={pending}
                  expiredAt={run.results_expired_at}
                />
              ),
            },
            { id: 'input', label: 'Input', content: <DetailTab query={detail} tab={InputTab} /> },
            { id: 'attempts', label: 'Attempts', content: <DetailTab query={detail} tab={AttemptsTab} /> },
            { id: 'cost', label: 'Cost', content: <DetailTab query={detail} tab={CostTab} /> },
          ]}
        />
      )}
    </>
  );
}

const HINTS: Readonly<Record<string, string>> = {
  'in queue': 'The run has not come to this node yet.',
  'not run': 'The run did not come to this node.',
};

function iterationsInWords(counts: NonNullable<NodeEntry['iterations']>): string {
  const { total, succeeded, failed, in_progress: running } = counts;
  const parts = [
    `${succeeded} succeeded`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(running > 0 ? [`${running} in progress`] : []),
  ];
  return `${total === 1 ? '1 iteration' : `${total} iterations`}: ${parts.join(', ')}.`;
}
