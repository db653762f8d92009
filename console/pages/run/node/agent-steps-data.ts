import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { parseJson } from '../../../../graph/json-text.js';
import { api, unwrap, type paths } from '../../../app/api.js';
import type { NodeEntry } from '../../../live/live-run.js';
import type { NodeAddress } from './node-detail.js';

export type StepList =
  paths['/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/steps/']['get']['responses'][200]['content']['application/json'];
export type Step = StepList['items'][number];
export type StepCall = Step['tool_calls'][number];

const PAGE_SIZE = 20;
const RUNNING_EVERY_MS = 3_000;

/** A page of what an agent has done; a node of another kind has no steps. Numbers stay as they were written. */
export function useAgentSteps(address: NodeAddress, entry: NodeEntry, page: number): UseQueryResult<StepList> {
  const { runId, workflowId, nodeId, path } = address;
  const isRunning = entry.status === 'in progress';
  return useQuery({
    queryKey: ['agent-steps', runId, nodeId, path, page, entry.status, entry.finished_at],
    queryFn: async ({ signal }) => {
      const query = { page, size: PAGE_SIZE, ...(path === '' ? {} : { path }) };
      const params = { path: { id: workflowId, run_id: runId, node_id: nodeId }, query };
      const options = { params, parseAs: 'text', signal } as const;
      const text = await unwrap(api.GET('/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/steps/', options));
      return parseJson(text) as StepList;
    },
    placeholderData: (before) => before,
    staleTime: isRunning ? 0 : 60_000,
    refetchInterval: isRunning ? RUNNING_EVERY_MS : false,
  });
}
