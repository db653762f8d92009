import { useMutation } from '@tanstack/react-query';
import { useMemo, useState, type ComponentType, type Ref } from 'react';
import { Link } from 'wouter';
import { isNotFound } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { parseNodeKey, type NodeEntry } from '../../live/live-run.js';
import { statusOf, wordOf, writtenStatus } from '../../live/node-status.js';
import { useIsWaiting, useNodeEntry, useNodeStatus, useStartedNodes } from '../../live/run-cache.js';
import { sumAmounts } from '../../ui/decimals.js';
import { Button } from '../../ui/button.js';
import { SelectField } from '../../ui/fields.js';
import { ClockTime, Duration, Money, RunningFor } from '../../ui/figures.js';
import { formatDuration } from '../../ui/format.js';
import { Loading } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { Table, type Column } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import { useNodeDetail } from '../../parts/node-result/node-detail.js';
import { InputView, InputTab } from './input-tab.js';
import './node-panel.css';
import { ResultTab } from '../../parts/node-result/result-tab.js';
import { ResumeFromHere } from '../../parts/run/resume.js';
import { ITERATIONS_OF_A_PAGE, loopOf, pageToLoad, type LoopAddress } from '../../parts/run/more-iterations.js';
import { iterationInWords, type NodeChoice } from '../../parts/run/node-choice.js';
import {
  loadMoreIterations,
  useApprovals,
  type Attempt,
  type NodeDetail,
  type RunDetail,
  type Transaction,
} from '../../parts/run/run-data.js';

interface NodePanelProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice | undefined;
  onSelect: (choice: NodeChoice) => void;
  ref?: Ref<HTMLElement>;
}

/** Details of one node of the run: result, input, attempts and cost. */
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
  const isStart = run.data['start_node'] === nodeId;
  const [tab, setTab] = useState('result');
  const entry = useNodeEntry(run.id, nodeId, path);
  const isWaiting = useIsWaiting(run.id, nodeId, path);
  const unreached = useNodeStatus(run.id, nodeId);
  const address = { runId: run.id, workflowId: run.workflow.id, nodeId, path };
  const detail = useNodeDetail(address, entry, true);
  const requests = useApprovals(run.id).data ?? [];
  const pending = requests.filter(
    (request) => request.node_id === nodeId && request.path === path && request.status === 'pending',
  );
  const status = entry === null ? unreached : statusOf(entry, isWaiting);
  const [word = '', ...more] = status.split(', ');
  return (
    <>
      <header className="node-head">
        <h2>{label}</h2>
        <Status
          status={entry === null ? writtenStatus(word) : word}
          {...(more.length === 0 ? {} : { suffix: more.join(', ') })}
        />
        <Link href={`/workflows/${run.workflow.id}?node=${encodeURIComponent(nodeId)}`}>Open in the editor</Link>
        {path === '' && <ResumeFromHere run={run} nodeId={nodeId} label={label} labels={labels} />}
      </header>
      {entry?.reused === true && (
        <p className="node-hint">
          The result is that of <Link href={`/runs/${run.resumed_from ?? ''}`}>the earlier run</Link>: nothing was
          executed, and nothing paid.
        </p>
      )}
      <Iterations run={run} labels={labels} choice={choice} onSelect={onSelect} />
      {entry?.iterations !== undefined && (
        <>
          <p className="node-hint">{iterationsInWords(entry.iterations)}</p>
          <MoreIterations run={run} loop={{ node: nodeId, path }} />
        </>
      )}
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
                  projectId={run.project.id}
                  entry={entry}
                  detail={detail.data}
                  label={label}
                  pending={pending}
                  expiredAt={run.results_expired_at}
                />
              ),
            },
            {
              id: 'input',
              label: 'Input',
              content: isStart ? (
                <InputView input={run.input_data ?? {}} />
              ) : (
                <DetailTab query={detail} tab={InputTab} />
              ),
            },
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

interface IterationsProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice;
  onSelect: (choice: NodeChoice) => void;
}

const STEP = 500;

/** Selects an iteration. Rendered only if the node ran inside a loop. */
function Iterations({ run, labels, choice, onSelect }: IterationsProps) {
  const { nodeId, path } = choice;
  const [count, setCount] = useState(STEP);
  const nodes = useStartedNodes(run.id).map(parseNodeKey);
  const paths = nodes.filter((node) => node.nodeId === nodeId && node.path !== '').map((node) => node.path);
  if (paths.length === 0) return null;
  const shown = paths.filter((value, at) => at < count || value === path);
  return (
    <>
      <SelectField
        label="Iteration"
        value={path}
        options={[
          ...(path === '' ? [{ value: '', label: 'Choose an iteration' }] : []),
          ...shown.map((value) => ({ value, label: iterationInWords(value, labels) })),
        ]}
        onChange={(value) => onSelect({ nodeId, path: value })}
      />
      {paths.length > shown.length ? (
        <Button variant="quiet" onClick={() => setCount(count + STEP)}>
          Show more of {paths.length} iterations
        </Button>
      ) : (
        <MoreIterations run={run} loop={loopOf(path === '' ? paths[0]! : path)} />
      )}
    </>
  );
}

interface MoreIterationsProps {
  run: RunDetail;
  loop: LoopAddress;
}

/** Loads further iterations of a loop. Renders nothing once all are loaded, or if the results have expired. */
function MoreIterations({ run, loop: { node, path } }: MoreIterationsProps) {
  const keys = useStartedNodes(run.id);
  const counts = useNodeEntry(run.id, node, path)?.iterations;
  const begun = counts === undefined ? 0 : counts.succeeded + counts.failed + counts.in_progress;
  // The events of the newest iterations of an open run may be on their way.
  const count = run.status === 'In Progress' ? begun - ITERATIONS_OF_A_PAGE : begun;
  // An iteration without nodes stays unknown, so the pages that were loaded here are not loaded again.
  const [loaded, setLoaded] = useState(0);
  const page = useMemo(() => pageToLoad(keys, { node, path }, count, loaded), [keys, node, path, count, loaded]);
  const more = useMutation({
    mutationFn: (wanted: number) => loadMoreIterations(run, { node, path }, wanted),
    onSuccess: (_nothing, wanted) => setLoaded(wanted),
  });
  if (page === undefined || run.results_expired_at !== undefined) return null;
  return (
    <>
      <Problem error={more.error} />
      <Button variant="quiet" isBusy={more.isPending} onClick={() => more.mutate(page)}>
        Load more of {begun} iterations
      </Button>
    </>
  );
}

interface DetailTabProps {
  query: ReturnType<typeof useNodeDetail>;
  tab: ComponentType<{ detail: NodeDetail }>;
}

/** A tab whose content is loaded when the node is shown. */
function DetailTab({ query, tab: Tab }: DetailTabProps) {
  if (query.data !== undefined) return <Tab detail={query.data} />;
  if (!query.isError) return <Loading />;
  // A node that has just started may be missing: the database has no row of it yet, and the service queries the run's
  // Temporal workflow at most once a second, so the last answer may be older than the start of the node.
  if (isNotFound(query.error)) return <p className="node-hint">Nothing is known of this node yet.</p>;
  return <Problem error={query.error} onRetry={() => void query.refetch()} isRetrying={query.isFetching} />;
}

interface AttemptRow extends Attempt {
  isWaiting: boolean;
}

const ATTEMPT_COLUMNS: readonly Column<AttemptRow>[] = [
  { heading: 'Attempt', isName: true, cell: ({ number }) => number },
  {
    heading: 'Status',
    cell: (attempt) => (
      <>
        <Status status={attemptStatus(attempt)} />
        {attempt.error !== null && (
          <span className="node-attempt-error">
            <code>{attempt.error.code}</code> {attempt.error.message}
          </span>
        )}
      </>
    ),
  },
  { heading: 'Started', cell: ({ started_at: at }) => <ClockTime at={at} /> },
  {
    heading: 'Duration',
    isFigure: true,
    cell: ({ started_at: startedAt, finished_at: finishedAt }) =>
      finishedAt === null ? (
        <RunningFor since={startedAt} />
      ) : (
        <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
      ),
  },
];

function AttemptsTab({ detail }: { detail: NodeDetail }) {
  const { queued_ms: queuedMs, attempts, waiting } = detail;
  const rows = attempts.map((attempt) => ({
    ...attempt,
    isWaiting: waiting !== undefined && attempt.finished_at === null,
  }));
  return (
    <div className="node-part">
      {queuedMs !== null && queuedMs > 0 && (
        <p className="node-hint">In queue for {formatDuration(queuedMs)} before the first attempt.</p>
      )}
      <Table
        label="Attempts"
        hasCards
        columns={ATTEMPT_COLUMNS}
        rows={rows}
        keyOf={({ number }) => number}
        empty="There was no attempt."
      />
    </div>
  );
}

function attemptStatus({ status, error, isWaiting }: AttemptRow): string {
  return wordOf({ id: '', status, ...(error === null ? {} : { error }) }, isWaiting);
}

const COST_COLUMNS: readonly Column<Transaction>[] = [
  { heading: 'Operation', isName: true, cell: ({ operation }) => operation },
  { heading: 'Time', cell: ({ created_at: createdAt }) => <ClockTime at={createdAt} /> },
  { heading: 'Note', cell: ({ reason }) => reason },
  { heading: 'Amount', isFigure: true, cell: ({ amount }) => <Money amount={amount} /> },
];

function CostTab({ detail: { transactions, reused } }: { detail: NodeDetail }) {
  return (
    <div className="node-part">
      {transactions.length > 0 && (
        <p>
          In all: <Money amount={sumAmounts(transactions.map(({ amount }) => amount))} />
        </p>
      )}
      <Table
        label="Cost"
        hasCards
        columns={COST_COLUMNS}
        rows={transactions}
        keyOf={({ id }) => id}
        empty={
          reused === true
            ? 'Nothing was charged: the result is that of an earlier run.'
            : 'Nothing has been charged for this node yet.'
        }
      />
    </div>
  );
}
