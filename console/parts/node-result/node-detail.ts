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
  /** The enclosing iteration; empty outside loops. */
  path: string;
}

/** A timeline asks for many nodes, so some connections stay free for what the person does. */
const limit = createLimit(3);
const RUNNING_EVERY_MS = 3_000;
/** Most repetitions come soon after a node has begun. */
const BEGUN_EVERY_MS = 1_000;
const BEGUN_MS = 15_000;

/**
 * Another state of the node in `entry` asks for its detail anew, because attempts between start and end are no events.
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
    // The detail of the node's last state stays until the new one is there.
    placeholderData: (before) => (before?.id === address.nodeId && before.path === address.path ? before : undefined),
    staleTime: isRunning ? 0 : 60_000,
    refetchInterval: ({ state }) => {
      if (isRunning) return pauseOf(entry);
      // Without its detail a node has one attempt in the timeline, so a read that has failed is repeated.
      return state.error === null || isNotFound(state.error) ? false : RUNNING_EVERY_MS;
    },
  });
}

function pauseOf({ started_at: startedAt }: NodeEntry): number {
  const isNew = typeof startedAt === 'string' && Date.now() - Date.parse(startedAt) < BEGUN_MS;
  return isNew ? BEGUN_EVERY_MS : RUNNING_EVERY_MS;
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
