import { useQuery, type QueryKey, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap } from '../../service/api.js';
import { isNotFound } from '../../service/explain.js';
import type { NodeEntry } from '../../live/live-run.js';
import { createLimit } from '../../service/pace.js';
import type { NodeDetail } from '../run/run-data.js';

export interface NodeAddress {
  runId: string;
  workflowId: number;
  nodeId: string;
  /** The enclosing iteration, empty outside loops. */
  path: string;
}

/** Limits concurrent loads, because a timeline requests many nodes and browsers have few connections per origin. */
const limit = createLimit(3);
const RUNNING_EVERY_MS = 3_000;
/** Most retries happen soon after the start of a node. */
const STARTED_EVERY_MS = 1_000;
const STARTED_MS = 15_000;

/**
 * Loads the detail of a node. Reloads when the state in `entry` changes, and polls until the node has ended, because
 * retries send no events.
 */
export function useNodeDetail(
  address: NodeAddress,
  entry: NodeEntry | null,
  isWanted: boolean,
): UseQueryResult<NodeDetail> {
  const isRunning = entry?.status === 'in progress' || entry?.status === 'in queue';
  return useQuery({
    queryKey: nodeDetailKey(address, entry),
    queryFn: ({ signal }) => limit(() => load(address, signal), signal),
    enabled: isWanted && entry !== null,
    // Shows the previous detail until the new one arrives.
    placeholderData: (before) => (before?.id === address.nodeId && before.path === address.path ? before : undefined),
    staleTime: isRunning ? 0 : 60_000,
    refetchInterval: ({ state }) => {
      if (isRunning) return pauseOf(entry);
      // Retries failed loads, because a node without detail shows a single attempt in the timeline.
      return state.error === null || isNotFound(state.error) ? false : RUNNING_EVERY_MS;
    },
  });
}

function pauseOf({ started_at: startedAt }: NodeEntry): number {
  const isNew = typeof startedAt === 'string' && Date.now() - Date.parse(startedAt) < STARTED_MS;
  return isNew ? STARTED_EVERY_MS : RUNNING_EVERY_MS;
}

function nodeDetailKey({ runId, nodeId, path }: NodeAddress, entry: NodeEntry | null): QueryKey {
  return ['node', runId, nodeId, path, entry?.status, entry?.finished_at];
}

function load({ runId, workflowId, nodeId, path }: NodeAddress, signal: AbortSignal): Promise<NodeDetail> {
  return unwrap(
    api.GET('/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/', {
      params: {
        path: { id: workflowId, run_id: runId, node_id: nodeId },
        ...(path === '' ? {} : { query: { path } }),
      },
      signal,
    }),
  );
}
