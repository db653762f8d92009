import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';

const TOOL = '/api/v1/workflows/{id}/tool/';

export type Tool = paths[typeof TOOL]['get']['responses'][200]['content']['application/json'];

export function useTool(workflowId: number): UseQueryResult<Tool> {
  return useQuery({
    queryKey: ['tool', workflowId],
    queryFn: ({ signal }) => unwrap(api.GET(TOOL, { params: { path: { id: workflowId } }, signal })),
  });
}

export function offerTool(workflowId: number, isTool: boolean): Promise<unknown> {
  const params = { path: { id: workflowId } };
  return unwrap(api.PATCH('/api/v1/workflows/{id}/', { params, body: { is_tool: isTool } }));
}

/** What most MCP clients take as the configuration of a server. */
export function toClientSettings({ url }: Tool): string {
  const server = { type: 'http', url, headers: { Authorization: 'Bearer YOUR_API_KEY' } };
  return JSON.stringify({ mcpServers: { workflows: server } }, null, 2);
}
