import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { RunLinks } from '../../drawing/run-links.js';
import { nodeKey, parseNodeKey, type NodeEntry } from '../../live/live-run.js';
import { useNodeEntry, useNodesInFlight } from '../../live/run-cache.js';
import { ClockTime, Duration, Money, RunningFor, Time } from '../../ui/figures.js';
import type { NodeChoice } from './node-choice.js';
import { failureOf, resultNodeOf } from './outcome.js';
import { useApprovals, type RunDetail } from './run-data.js';
import './story.css';

interface RunStoryProps {
  run: RunDetail;
  /** The run's status in the console's words. */
  word: string;
  isOpen: boolean;
  labels: ReadonlyMap<string, string>;
  links: RunLinks;
  onSelect: (choice: NodeChoice) => void;
}

/** Says in a few sentences what happened, where, and what a person can do. */
export function RunStory(props: RunStoryProps) {
  const { run, word, isOpen } = props;
  return (
    <div role="group" aria-label="What happened" className={`run-story run-story-${word.replace(' ', '-')}`}>
      {isOpen ? <Open {...props} /> : <Ended {...props} />}
      {run.status === 'Succeeded' && run.total_cost['USD'] !== run.cost['USD'] && (
        <p>
          With the runs that it has started: <Money amount={run.total_cost} />.
        </p>
      )}
    </div>
  );
}

function Ended({ run, labels, links, onSelect }: RunStoryProps) {
  const result = useMemo(() => resultNodeOf(run, links), [run, links]);
  const failed = useMemo(() => failureOf(run), [run]);
  const choice = failed === undefined ? undefined : { nodeId: failed.id, path: failed.path ?? '' };
  const took = <Duration ms={(run.duration ?? 0) * 1000} />;
  switch (run.status) {
    case 'Succeeded':
      return (
        <p>
          Succeeded in {took} for <Money amount={run.cost} />.
          {result !== undefined && (
            <>
              {' '}
              Its result is that of{' '}
              <NodeButton choice={{ nodeId: result.id, path: '' }} labels={labels} onSelect={onSelect} />.
            </>
          )}
        </p>
      );
    case 'Cancelled':
      return <p>Was cancelled{run.duration !== null && <> after {took}</>}. What had ended until then is kept.</p>;
    case 'Draft':
      return (
        <p>
          Was refused before it began: fields of its nodes were not valid.
          {choice !== undefined && (
            <>
              {' '}
              The first is <NodeButton choice={choice} labels={labels} onSelect={onSelect} />.
            </>
          )}
        </p>
      );
    case 'Error':
    case 'In Progress':
    default:
      return (
        <p>
          Failed
          {choice !== undefined && (
            <>
              {' '}
              at <NodeButton choice={choice} labels={labels} onSelect={onSelect} />
            </>
          )}
          {run.duration !== null && <> after {took}</>}
          <Reason error={failed?.error ?? run.error} />
        </p>
      );
  }
}

function Reason({ error }: { error: { code: string; message: string } | null }) {
  if (error === null) return '.';
  return (
    <>
      : <code>{error.code}</code> {error.message}
    </>
  );
}

interface NodeButtonProps extends Pick<RunStoryProps, 'labels' | 'onSelect'> {
  choice: NodeChoice;
  /** By default the label of the node. */
  children?: ReactNode;
}

/** Button that shows the node's details, where a person can decide about its calls or answer its task. */
function NodeButton({ choice: { nodeId, path }, labels, onSelect, children }: NodeButtonProps) {
  return (
    <button type="button" className="run-story-node" onClick={() => onSelect({ nodeId, path })}>
      {children ?? labels.get(nodeId) ?? nodeId}
    </button>
  );
}

/** At most this many requests, waiting nodes and running nodes each are listed. */
const NAMED = 3;

function Open(props: RunStoryProps) {
  const { run, word, links } = props;
  const { waiting, running, ended } = useNodesInFlight(run.id);
  const requests = (useApprovals(run.id).data ?? []).filter(({ status }) => status === 'pending');
  const asking = new Set(requests.map(({ node_id: id, path }) => nodeKey(id, path)));
  const others = waiting.filter((key) => !asking.has(key));
  if (word === 'in queue') {
    return (
      <p>
        Is in queue since <ClockTime at={run.created_at} />.
      </p>
    );
  }
  return (
    <>
      {requests.slice(0, NAMED).map((request) => (
        <p key={request.request_id}>
          {props.labels.get(request.node_id) ?? request.node_label} asks since <ClockTime at={request.created_at} />{' '}
          whether it may call {request.tool_name}:{' '}
          <NodeButton {...props} choice={{ nodeId: request.node_id, path: request.path }}>
            Decide
          </NodeButton>
          .
        </p>
      ))}
      {others.slice(0, NAMED).map((key) => (
        <Wait key={key} {...props} waitingKey={key} />
      ))}
      {Math.max(requests.length, others.length) > NAMED && <p>Other nodes wait, too.</p>}
      {running.length > 0 && (
        <p>
          Is running{' '}
          {running.slice(0, NAMED).map((key, index) => (
            <span key={key}>
              {index > 0 && ', '}
              <NodeButton {...props} choice={parseNodeKey(key)} />
            </span>
          ))}
          {running.length > NAMED && ` and ${running.length - NAMED} more`}; {ended} of {links.order.length} nodes have
          ended.
        </p>
      )}
      {word !== 'waiting' && running.length + waiting.length + requests.length === 0 && <p>Is running.</p>}
    </>
  );
}

/** Explains what a node waits for and since when, and links to where a person can end the wait. */
function Wait({ run, labels, waitingKey, onSelect }: RunStoryProps & { waitingKey: string }) {
  const choice = parseNodeKey(waitingKey);
  const entry = useNodeEntry(run.id, choice.nodeId, choice.path);
  const waiting = entry?.waiting;
  if (entry === null || waiting === undefined) return null;
  return (
    <p>
      Waits at <NodeButton choice={choice} labels={labels} onSelect={onSelect} /> {WAITS[waiting.for]}
      {waiting.pool !== undefined && ` ${waiting.pool}`}
      {typeof entry.started_at === 'string' && (
        <>
          {' '}
          since <ClockTime at={entry.started_at} /> (<RunningFor since={entry.started_at} />)
        </>
      )}
      {waiting.until === undefined ? (
        '.'
      ) : (
        <>
          , until <Time at={waiting.until} /> at the latest.
        </>
      )}
      {waiting.task_id === undefined ? (
        remedyOf(run, waiting)
      ) : (
        <>
          {' '}
          <NodeButton choice={choice} labels={labels} onSelect={onSelect}>
            Answer
          </NodeButton>
        </>
      )}
    </p>
  );
}

type Waiting = NonNullable<NodeEntry['waiting']>;

const WAITS: Readonly<Record<Waiting['for'], string>> = {
  approval: 'for a decision',
  callback: 'for a callback',
  child: 'for the end of the run that it has started',
  connection: 'until somebody has signed in for its connection',
  human: 'for the answer of a person',
  time: 'for its time to come',
  worker: 'for a worker of pool',
};

function remedyOf({ project }: RunDetail, waiting: Waiting): ReactNode {
  if (waiting.run_id !== undefined)
    return <Remedy to={`/runs/${encodeURIComponent(waiting.run_id)}`} name="Open that run" />;
  if (waiting.for !== 'connection') return null;
  return <Remedy to={`/settings?tab=connections&project=${project.id}`} name="Sign in" />;
}

function Remedy({ to, name }: { to: string; name: string }) {
  return (
    <>
      {' '}
      <Link href={to}>{name}</Link>
    </>
  );
}
