import { memo, useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { pushTo } from '../../../graph/push-to.js';
import { latestMs, nodeKey, parseNodeKey } from '../../live/live-run.js';
import { readShownRun, useIsWaiting, useNodeEntry, useStartedNodes } from '../../live/run-cache.js';
import { Button } from '../../ui/button.js';
import { classNames } from '../../ui/class-names.js';
import { useNow } from '../../ui/figures.js';
import { formatDuration } from '../../ui/format.js';
import { useNodeDetail } from '../../parts/node-result/node-detail.js';
import { iterationInWords, iterationNumber, type NodeChoice } from '../../parts/run/node-choice.js';
import { useApprovals, type ApprovalRequest, type RunDetail } from '../../parts/run/run-data.js';
import { axisOf, layOutRow, ticksOf, type AttemptSpan, type Span } from './timeline-layout.js';
import './timeline.css';

interface TimelineProps {
  run: RunDetail;
  isOpen: boolean;
  labels: ReadonlyMap<string, string>;
  selected: NodeChoice | undefined;
  onSelect: (choice: NodeChoice) => void;
}

const GROW_EVERY_MS = 200;
/**
 * In an ended run with at most this many rows (one row for each node and iteration), all attempts are loaded at once.
 * In other runs, the attempts of a row are loaded when the row scrolls into view.
 */
const READ_AT_ONCE = 60;
/** Rows are added in steps, because a loop may have ten thousand iterations with many nodes each. */
const STEP = 500;
const NONE: readonly ApprovalRequest[] = [];

export function Timeline({ run, isOpen, labels, selected, onSelect }: TimelineProps) {
  const rows = useRef<HTMLDivElement>(null);
  const keys = useStartedNodes(run.id);
  const [count, setCount] = useState(STEP);
  const requests = useRequestsByNode(run.id);
  // Until `run_started_at` is loaded, the start of the first node replaces it, because that start is known before the
  // first bar is drawn and does not change.
  const firstStart = useNodeEntry(run.id, parseNodeKey(keys[0] ?? '').nodeId)?.started_at;
  const originMs = Date.parse(run.run_started_at ?? firstStart ?? run.created_at);
  const endMs = run.run_finished_at === null ? undefined : Date.parse(run.run_finished_at);
  useGrowingSpan(rows, run.id, originMs, isOpen ? undefined : endMs);
  return (
    <section aria-label="Timeline" className="timeline">
      <header className="timeline-head">
        <h2>Timeline</h2>
        <Legend isResumed={run.resumed_from !== null} />
      </header>
      {keys.length === 0 && <p className="timeline-empty">No node has begun yet.</p>}
      {keys.length > 0 && (
        <div className="timeline-rows" ref={rows}>
          {isOpen || endMs === undefined ? <GrowingAxis originMs={originMs} /> : <Axis spanMs={endMs - originMs} />}
          <ol aria-label="Nodes in the order in which they have begun">
            {keys.slice(0, count).map((key) => (
              <TimelineRow
                key={key}
                run={run}
                nodeKey={key}
                labels={labels}
                originMs={originMs}
                requests={requests.get(key) ?? NONE}
                isReadAtOnce={!isOpen && keys.length <= READ_AT_ONCE}
                isSelected={selected !== undefined && nodeKey(selected.nodeId, selected.path) === key}
                onSelect={onSelect}
              />
            ))}
          </ol>
          {keys.length > count && (
            <Button variant="quiet" onClick={() => setCount(count + STEP)}>
              Show more of {keys.length} nodes
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

/**
 * Sets two CSS properties in milliseconds: `--span`, the length of the axis, and `--now`, the time that the run has
 * lasted. The style sheet positions bars as fractions of `--span` and ends the bars of open attempts at `--now`, so
 * these bars grow without rendering.
 */
function useGrowingSpan(
  rows: RefObject<HTMLDivElement | null>,
  runId: string,
  originMs: number,
  endMs: number | undefined,
): void {
  // Without a dependency list, because each render may follow a live event that moves the end of the axis.
  useEffect(() => {
    const set = (): void => {
      const shown = readShownRun(runId);
      const latest = Math.max(endMs ?? Date.now(), shown === undefined ? 0 : latestMs(shown.live));
      const now = Math.max(1, latest - originMs);
      rows.current?.style.setProperty('--now', String(now));
      rows.current?.style.setProperty('--span', String(endMs === undefined ? axisOf(now) : now));
    };
    set();
    if (endMs !== undefined) return undefined;
    const timer = setInterval(set, GROW_EVERY_MS);
    return () => clearInterval(timer);
  });
}

function useRequestsByNode(runId: string): ReadonlyMap<string, readonly ApprovalRequest[]> {
  const { data } = useApprovals(runId);
  return useMemo(() => {
    const byNode = new Map<string, ApprovalRequest[]>();
    for (const request of data ?? NONE) {
      const key = nodeKey(request.node_id, request.path);
      pushTo(byNode, key, request);
    }
    return byNode;
  }, [data]);
}

interface TimelineRowProps {
  run: RunDetail;
  nodeKey: string;
  labels: ReadonlyMap<string, string>;
  originMs: number;
  requests: readonly ApprovalRequest[];
  /** True to load the attempts at once; otherwise they are loaded when the row scrolls into view. */
  isReadAtOnce: boolean;
  isSelected: boolean;
  onSelect: (choice: NodeChoice) => void;
}

const TimelineRow = memo(function TimelineRow(props: TimelineRowProps) {
  const { run, nodeKey: key, labels, originMs, requests, isReadAtOnce, isSelected, onSelect } = props;
  const row = useRef<HTMLLIElement>(null);
  const { nodeId, path } = parseNodeKey(key);
  const entry = useNodeEntry(run.id, nodeId, path);
  const isWaiting = useIsWaiting(run.id, nodeId, path);
  const wasVisible = useWasVisible(row);
  const address = { runId: run.id, workflowId: run.workflow.id, nodeId, path };
  const detail = useNodeDetail(address, entry, isReadAtOnce || wasVisible).data;
  const label = labels.get(nodeId) ?? nodeId;
  const view = entry === null ? undefined : layOutRow({ originMs, entry, isWaiting, detail, requests });
  return (
    <li className={classNames('timeline-row', isSelected && 'timeline-row-selected')} ref={row}>
      <span className="timeline-label" title={path === '' ? label : `${label}, ${iterationInWords(path, labels)}`}>
        {path !== '' && <span className="timeline-path">{iterationNumber(path)} </span>}
        {label}
      </span>
      <div className="timeline-track">
        {view?.queue !== undefined && <Queue span={view.queue} />}
        {view?.pauses.map((span) => (
          <span key={span.fromMs} className="timeline-pause" style={placeOf(span)} />
        ))}
        {view?.attempts.map((attempt) => (
          <AttemptBar
            key={attempt.number}
            label={label}
            attempt={attempt}
            originMs={originMs}
            isReused={entry?.reused === true}
            onSelect={() => onSelect({ nodeId, path })}
          />
        ))}
      </div>
    </li>
  );
});

function Queue({ span }: { span: Span }) {
  const text = `in queue for ${formatDuration((span.toMs ?? span.fromMs) - span.fromMs)}`;
  return (
    <span className="timeline-queue" style={placeOf(span)} title={text}>
      <span className="hidden-text">{text}</span>
    </span>
  );
}

function placeOf({ fromMs, toMs }: Span) {
  return { '--from': fromMs, '--to': toMs ?? 'var(--now)' };
}

interface AttemptBarProps {
  label: string;
  attempt: AttemptSpan;
  originMs: number;
  isReused: boolean;
  onSelect: () => void;
}

/**
 * A button named `<label>, attempt N, <status>, <duration>`; the duration of an open attempt grows. A reused or fixed
 * result had no attempt in this run, so its button is named `<label>, <status>, reused`.
 */
function AttemptBar({ label, attempt, originMs, isReused, onSelect }: AttemptBarProps) {
  const { number, word, fromMs, toMs, waits } = attempt;
  const head = isReused ? `${label}, ${word}, reused` : `${label}, attempt ${number}, ${word}`;
  return (
    <button
      type="button"
      className={classNames(
        'timeline-bar',
        `timeline-bar-${word.replace(' ', '-')}`,
        isReused && 'timeline-bar-reused',
      )}
      style={{ '--from': fromMs, '--to': toMs ?? 'var(--now)' }}
      title={head}
      onClick={onSelect}
    >
      {waits.map((wait) => (
        <span
          key={wait.fromMs}
          className="timeline-wait"
          style={{
            '--bar-from': fromMs,
            '--bar-to': toMs ?? 'var(--now)',
            '--from': wait.fromMs,
            '--to': wait.toMs ?? 'var(--now)',
          }}
        />
      ))}
      <span className="hidden-text">
        {head}
        {!isReused && ', '}
        {!isReused && (toMs === null ? <Growing fromMs={originMs + fromMs} /> : formatDuration(toMs - fromMs))}
      </span>
    </button>
  );
}

function Growing({ fromMs }: { fromMs: number }) {
  return formatDuration(useNow(1_000) - fromMs);
}

/** Fraction of the axis after which a label would not fit. */
const LABELLED = 0.92;

function GrowingAxis({ originMs }: { originMs: number }) {
  return <Axis spanMs={axisOf(useNow(1_000) - originMs)} />;
}

function Axis({ spanMs }: { spanMs: number }) {
  return (
    <div className="timeline-axis" aria-hidden="true">
      <div className="timeline-track">
        {ticksOf(LABELLED * spanMs).map((ms) => (
          <span key={ms} className="timeline-tick" style={{ '--from': ms }}>
            {ms === 0 ? '0' : formatDuration(ms)}
          </span>
        ))}
      </div>
    </div>
  );
}

function Legend({ isResumed }: { isResumed: boolean }) {
  return (
    <ul className="timeline-legend" aria-label="Legend">
      <li className="timeline-legend-attempt">attempt</li>
      <li className="timeline-legend-queue">in queue</li>
      <li className="timeline-legend-wait">waiting</li>
      {isResumed && <li className="timeline-legend-reused">reused</li>}
    </ul>
  );
}

/** True once the element has been visible. */
function useWasVisible(element: RefObject<Element | null>): boolean {
  const [wasVisible, setWasVisible] = useState(false);
  useEffect(() => {
    const target = element.current;
    if (target === null || wasVisible) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setWasVisible(true);
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, [element, wasVisible]);
  return wasVisible;
}
