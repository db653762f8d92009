// The tools that an MCP server lists.
import { useMutation } from '@tanstack/react-query';
import { dataOf, nodesOf, type DrawnNode } from '../../drawing/drawing.js';
import { useEditor } from '../../drawing/editor-store.js';
import type { JsonObject } from '../../../graph/json.js';
import { api, unwrap, type paths } from '../../service/api.js';
import { asArray, asObject, asText } from '../../ui/json.js';
import { isSameServer } from './same-server.js';

type Route = paths['/api/v1/workflows/mcp-tools/']['post'];
type Asked = NonNullable<Route['requestBody']>['content']['application/json'];

interface McpTool {
  name: string;
  description: string | undefined;
}

export interface ListedTools {
  /** Undefined until the server has answered. A change of the server (`isSameServer`) makes it undefined again. */
  tools: readonly McpTool[] | undefined;
  error: unknown;
  isPending: boolean;
  /** False while there is no address. */
  isPossible: boolean;
  list: () => void;
}

interface OfNode {
  workflowId: number;
  nodeId: string;
}

/**
 * `server` is the data of an MCP node, or one entry of an agent's `tools`. Only the fields that `toRequest` picks are
 * used: those with which the service reaches the server.
 */
export function useMcpTools({ workflowId, nodeId }: OfNode, server: JsonObject): ListedTools {
  const address = asText(server['endpoint_url']) ?? '';
  const isStored = useEditor(({ saved }) => storesServer(nodesOf(saved).get(nodeId), address));
  const asked = toRequest(server, isStored ? { workflow_id: workflowId, node_id: nodeId } : {});
  const call = useMutation({
    mutationFn: (body: Asked) => unwrap(api.POST('/api/v1/workflows/mcp-tools/', { body })),
  });
  // The answer only applies to the server that was asked.
  const isCurrent = call.variables !== undefined && isSameServer(call.variables, asked);
  return {
    tools: isCurrent ? call.data?.map(toTool) : undefined,
    error: isCurrent ? call.error : null,
    isPending: call.isPending,
    isPossible: address.trim() !== '',
    list: () => call.mutate(asked),
  };
}

function toTool(tool: Record<string, unknown>): McpTool {
  return { name: asText(tool['name']) ?? '', description: asText(tool['description']) };
}

/** True if the stored node names a server of this origin. The service may then add the stored headers. */
function storesServer(node: DrawnNode | undefined, address: string): boolean {
  if (node === undefined || !URL.canParse(address)) return false;
  const { origin } = new URL(address);
  return [dataOf(node), ...asArray(dataOf(node)['tools'])].some((server) => {
    const stored = asText(asObject(server)['endpoint_url']) ?? '';
    return URL.canParse(stored) && new URL(stored).origin === origin;
  });
}

/** `stored` lets the service use the stored headers, whose secrets are masked here. The service checks the values. */
function toRequest(server: JsonObject, stored: Pick<Asked, 'workflow_id' | 'node_id'>): Asked {
  const { endpoint_url, transport, headers, timeout, connection } = server;
  const fields = { endpoint_url, transport, headers, timeout, connection };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ...stored } as unknown as Asked;
}
