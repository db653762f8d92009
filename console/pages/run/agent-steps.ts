// The steps of an agent, as the service tells them.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { parseJson } from '../../../graph/json-text.js';
import { api, unwrap, type paths } from '../../app/api.js';
import type { NodeEntry } from '../../live/live-run.js';
import type { NodeAddress } from './node-detail.js';

type StepList =
  paths['/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/steps/']['get']['responses'][200]['content']['application/json'];
export type Step = StepList['items'][number];
export type StepCall = Step['tool_calls'][number];

const PAGE_SIZE = 20;
const RUNNING_EVERY_MS = 3_000;

/** Returns a page of the steps of an agent. A node of another kind has none. */
export function useAgentSteps(address: NodeAddress, entry: NodeEntry, page: number): UseQueryResult<StepList> {
  const { runId, nodeId, path } = address;
  const isRunning = entry.status === 'in progress';
  return useQuery({
    queryKey: ['agent-steps', runId, nodeId, path, page, entry.status, entry.finished_at],
    queryFn: ({ signal }) => readAgentSteps(address, page, signal),
    placeholderData: (before) => before,
    staleTime: isRunning ? 0 : 60_000,
    refetchInterval: isRunning ? RUNNING_EVERY_MS : false,
  });
}

/** Numbers stay as they were written. */
export async function readAgentSteps(address: NodeAddress, page: number, signal: AbortSignal): Promise<StepList> {
  const { runId, workflowId, nodeId, path } = address;
  const query = { page, size: PAGE_SIZE, ...(path === '' ? {} : { path }) };
  const params = { path: { id: workflowId, run_id: runId, node_id: nodeId }, query };
  const options = { params, parseAs: 'text', signal } as const;
  const text = await unwrap(api.GET('/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/steps/', options));
  return parseJson(text) as StepList;
}
