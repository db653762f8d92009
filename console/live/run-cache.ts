// The live state of a run is kept in the query cache. A part of a page renders again only when the part of the state
// that it reads has changed.
import { skipToken, useQuery, type QueryKey } from '@tanstack/react-query';
import { queryClient } from '../app/queries.js';
import { nodeKey, type LiveRun, type NodeEntry } from './live-run.js';

/** `statuses` holds the words of the drawing's nodes by id (`statusesOf`). */
interface ShownRun {
  live: LiveRun;
  statuses: ReadonlyMap<string, string>;
}

function shownRunKey(runId: string): QueryKey {
  return ['poll', runId];
}

export function readShownRun(runId: string): ShownRun | undefined {
  return queryClient.getQueryData<ShownRun>(shownRunKey(runId));
}

export function writeShownRun(runId: string, shown: ShownRun): void {
  queryClient.setQueryData(shownRunKey(runId), shown);
}

function useShownRun<Part>(runId: string, select: (shown: ShownRun) => Part): Part | undefined {
  const query = useQuery({
    queryKey: shownRunKey(runId),
    queryFn: skipToken,
    select,
    staleTime: Infinity,
    // Entries keep their identity by themselves (live-run.ts); comparing whole results here would cost more.
    structuralSharing: false,
  });
  return query.data;
}

/** Returns the whole state of a run; undefined until it is read. */
export function useLive(runId: string): LiveRun | undefined {
  return useShownRun(runId, ({ live }) => live);
}

export function useNodeStatus(runId: string, nodeId: string): string {
  return useShownRun(runId, ({ statuses }) => statuses.get(nodeId)) ?? 'not run';
}

/** Returns null if the run has not reached the node. */
export function useNodeEntry(runId: string, nodeId: string, path = ''): NodeEntry | null {
  return useShownRun(runId, ({ live }) => live.nodes.get(nodeKey(nodeId, path)) ?? null) ?? null;
}

/** Returns whether the node waits for somebody's decision. */
export function useIsWaiting(runId: string, nodeId: string, path = ''): boolean {
  return useShownRun(runId, ({ live }) => live.pending.has(nodeKey(nodeId, path))) ?? false;
}

const NONE: readonly string[] = [];

/** Returns the keys of the nodes that have begun, in this order. */
export function useStartedNodes(runId: string): readonly string[] {
  return useShownRun(runId, ({ live }) => live.order) ?? NONE;
}

/** Returns `waiting` if the run is in progress and each node in flight waits. A loop waits if its iterations do. */
export function useRunWord(runId: string): LiveRun['status'] | 'waiting' | undefined {
  return useShownRun(runId, ({ live }) => (isAllWaiting(live) ? 'waiting' : live.status));
}

function isAllWaiting({ status, nodes, pending }: LiveRun): boolean {
  if (status !== 'in progress') return false;
  let count = 0;
  for (const [key, entry] of nodes) {
    if (entry.status !== 'in progress' || entry.iterations !== undefined) continue;
    if (entry.waiting === undefined && !pending.has(key)) return false;
    count += 1;
  }
  return count > 0;
}
