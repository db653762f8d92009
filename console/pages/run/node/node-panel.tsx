import { useState } from 'react';
import { explain, isNotFound } from '../../../app/explain.js';
import { parseNodeKey } from '../../../live/live-run.js';
import { statusOf } from '../../../live/node-status.js';
import { useIsWaiting, useNodeEntry, useNodeStatus, useStartedNodes } from '../../../live/run-cache.js';
import { Alert } from '../../../ui/alert.js';
import { Loading } from '../../../ui/loading.js';
import { SelectField } from '../../../ui/select-field.js';
import { Status } from '../../../ui/status.js';
import { Tabs } from '../../../ui/tabs.js';
import type { NodeChoice } from '../node-choice.js';
import { useApprovals, type NodeDetail, type RunDetail } from '../run-data.js';
import { AttemptsTab } from './attempts-tab.js';
import { CostTab } from './cost-tab.js';
import { InputTab } from './input-tab.js';
import { useNodeDetail } from './node-detail.js';
import './node-panel.css';
import { ResultTab } from './result-tab.js';

interface NodePanelProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice | undefined;
  onSelect: (choice: NodeChoice) => void;
}

/** One node of the run: what came out of it, what went in, how often it was tried, what it cost. */
export function NodePanel({ run, labels, choice, onSelect }: NodePanelProps) {
  return (
    <section aria-label="Node" className="node-panel">
      {choice === undefined ? (
        <p className="node-hint">Choose a node in the graph or in the timeline to see its result, input and cost.</p>
      ) : (
        <ChosenNode
          key={`${choice.nodeId} ${choice.path}`}
          run={run}
          label={labels.get(choice.nodeId) ?? choice.nodeId}
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
  choice: NodeChoice;
  onSelect: (choice: NodeChoice) => void;
}

function ChosenNode({ run, label, choice, onSelect }: ChosenNodeProps) {
  const { nodeId, path } = choice;
  const [tab, setTab] = useState('result');
  const entry = useNodeEntry(run.id, nodeId, path);
  const isWaiting = useIsWaiting(run.id, nodeId, path);
  const unreached = useNodeStatus(run.id, nodeId);
  const detail = useNodeDetail({ runId: run.id, workflowId: run.workflow.id, nodeId, path }, entry, true);
  const requests = useApprovals(run.id).data ?? [];
  const pending = requests.filter(({ node_id: id, status }) => id === nodeId && status === 'pending');
  const status = entry === null ? unreached : statusOf(entry, isWaiting);
  const [word = '', reused] = status.split(', ');
  const withDetail = (show: (detail: NodeDetail) => React.ReactNode) => <Detail query={detail}>{show}</Detail>;
  return (
    <>
      <header className="node-head">
        <h2>{label}</h2>
        <Status status={word} {...(reused === undefined ? {} : { suffix: reused })} />
      </header>
      <Iterations runId={run.id} choice={choice} onSelect={onSelect} />
      {entry === null ? (
        <p className="node-hint">
          {status === 'in queue' ? 'The run has not come to this node yet.' : 'The run did not come to this node.'}
        </p>
      ) : (
        <Tabs
          label="Node"
          selected={tab}
          onSelect={setTab}
          tabs={[
            {
              id: 'result',
              label: 'Result',
              content: <ResultTab entry={entry} label={label} pending={pending} expiredAt={run.results_expired_at} />,
            },
            { id: 'input', label: 'Input', content: withDetail((known) => <InputTab detail={known} />) },
            { id: 'attempts', label: 'Attempts', content: withDetail((known) => <AttemptsTab detail={known} />) },
            { id: 'cost', label: 'Cost', content: withDetail((known) => <CostTab detail={known} />) },
          ]}
        />
      )}
    </>
  );
}

interface DetailProps {
  query: ReturnType<typeof useNodeDetail>;
  children: (detail: NodeDetail) => React.ReactNode;
}

function Detail({ query, children }: DetailProps) {
  if (query.data !== undefined) return children(query.data);
  if (!query.isError) return <Loading />;
  // It lives for a moment only in the memory of the run: nothing of it is stored yet.
  if (isNotFound(query.error)) return <p className="node-hint">Nothing is known of this node yet.</p>;
  return (
    <Alert onRetry={() => void query.refetch()} isRetrying={query.isFetching}>
      {explain(query.error)}
    </Alert>
  );
}

/** Only where the node was executed in iterations of a loop. */
function Iterations({ runId, choice, onSelect }: { runId: string } & Pick<ChosenNodeProps, 'choice' | 'onSelect'>) {
  const { nodeId, path } = choice;
  const nodes = useStartedNodes(runId).map(parseNodeKey);
  const paths = nodes.filter((node) => node.nodeId === nodeId && node.path !== '').map((node) => node.path);
  if (paths.length === 0) return null;
  return (
    <SelectField
      label="Iteration"
      value={path}
      options={[...(path === '' ? [{ value: '', label: 'Choose an iteration' }] : []), ...paths.map(toOption)]}
      onChange={(value) => onSelect({ nodeId, path: value })}
    />
  );
}

function toOption(path: string): { value: string; label: string } {
  return { value: path, label: path };
}
