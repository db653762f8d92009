import { useEffect, useMemo, useRef, type RefObject } from 'react';
import { latestMs, nodeKey } from '../../../live/live-run.js';
import { readShownRun, useStartedNodes } from '../../../live/run-cache.js';
import type { NodeChoice } from '../node-choice.js';
import { useApprovals, type ApprovalRequest, type RunDetail } from '../run-data.js';
import { Axis, GrowingAxis } from './timeline-axis.js';
import { Legend } from './timeline-legend.js';
import { TimelineRow } from './timeline-row.js';
import './timeline.css';

interface TimelineProps {
  run: RunDetail;
  isOpen: boolean;
  /** Labels of nodes by id. */
  labels: ReadonlyMap<string, string>;
  selected: NodeChoice | undefined;
  onSelect: (choice: NodeChoice) => void;
}

const GROW_EVERY_MS = 200;
/** The attempts of so many nodes are read at once; those of further ones when they come into sight. */
const READ_AT_ONCE = 60;
const NONE: readonly ApprovalRequest[] = [];

export function Timeline({ run, isOpen, labels, selected, onSelect }: TimelineProps) {
  const rows = useRef<HTMLDivElement>(null);
  const keys = useStartedNodes(run.id);
  const requests = useRequestsByNode(run.id);
  const originMs = Date.parse(run.run_started_at ?? run.created_at);
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
            {keys.map((key) => (
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
        </div>
      )}
    </section>
  );
}

/**
 * Bars are placed by the style sheet as parts of `--span`, the length of the run in milliseconds: one property makes all of
 * them grow, and nothing is rendered for it.
 */
function useGrowingSpan(
  rows: RefObject<HTMLDivElement | null>,
  runId: string,
  originMs: number,
  endMs: number | undefined,
): void {
  useEffect(() => {
    const set = (): void => {
      const shown = readShownRun(runId);
      const latest = Math.max(endMs ?? Date.now(), shown === undefined ? 0 : latestMs(shown.live));
      rows.current?.style.setProperty('--span', String(Math.max(1, latest - originMs)));
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
      byNode.set(key, [...(byNode.get(key) ?? []), request]);
    }
    return byNode;
  }, [data]);
}
