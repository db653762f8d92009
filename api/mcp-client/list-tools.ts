// Lists the tools of an MCP server, and stores which of them the agents of a drawing cannot be offered.
import { storeRefusedTools } from '../../db/agents/refused-tools-repository.js';
import { outageOf } from '../../db/core/outage.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { agentNode } from '../../graph/nodes/agent.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { McpError } from '../../outgoing/mcp-client.js';
import { readTools, toShownTools } from '../../outgoing/mcp-tools.js';
import type { McpServer } from '../../outgoing/mcp-types.js';
import type { MessageSize } from '../../outgoing/message-size.js';
import type { McpClientDeps } from './deps.js';

/** Bytes of memory per byte of a list, which is held as received bytes, as text, as values and as the answer. */
const LIST_FACTOR = 8;
/** Bytes of memory per value of a list; each value is copied twice. */
const VALUE_BYTES = 128;

interface Listing {
  /** Covers the list until the answer is built. */
  memory: ByteLease;
  signal: AbortSignal;
}

/** Returns the list as the server sends it. Repeats the request once if the server loses the session meanwhile. */
export async function listTools({ mcp }: McpClientDeps, server: McpServer, listing: Listing): Promise<unknown[]> {
  try {
    return await listOnce(mcp, server, listing);
  } catch (error) {
    if (!(error instanceof McpError) || !error.isSessionLost) throw error;
    return listOnce(mcp, server, listing);
  }
}

async function listOnce(mcp: McpClientDeps['mcp'], server: McpServer, { memory, signal }: Listing): Promise<unknown[]> {
  const session = await mcp.connect(server, signal);
  try {
    return await session.listTools(signal, (size) => memory.resize(weightOf(size)));
  } finally {
    // The session is closed without delaying the answer.
    void session.close();
  }
}

function weightOf({ bytes, values }: MessageSize): number {
  return LIST_FACTOR * bytes + VALUE_BYTES * values;
}

/** The node of a stored drawing for which the list was requested. */
export interface ListedAgent {
  workflowId: number;
  version: number;
  nodeId: string;
  /** The servers of the stored agent at the requested address; empty if the node is no agent or names none there. */
  servers: readonly { label: string; allowed: string[] | undefined }[];
}

/** Stores nothing while PostgreSQL has no room for changes: the list is answered nevertheless. */
export async function storeRefusedOf(
  { db }: Pick<McpClientDeps, 'db'>,
  { servers, ...place }: ListedAgent,
  items: unknown[],
  mask: (text: string) => string,
): Promise<void> {
  const refused = servers.map(({ label, allowed }) => {
    return [label, toShownTools(readTools(items, allowed).refused, mask)] as const;
  });
  await ignoreNoRoom(storeRefusedTools(db, place, new Map(refused)));
}

/** Ignores the error of a write that PostgreSQL has refused because it has no room for changes. */
export async function ignoreNoRoom(written: Promise<unknown>): Promise<void> {
  await written.catch((error: unknown) => {
    if (outageOf(error) !== 'no room') throw error;
  });
}

/** Reads a drawing that may not be valid. */
export function serversAt(drawing: JsonObject, nodeId: string, endpointUrl: string): ListedAgent['servers'] {
  const nodes = ownValue(drawing, 'nodes');
  const node: unknown = Array.isArray(nodes) ? nodes.find((each) => ownValue(each, 'id') === nodeId) : undefined;
  const tools = ownValue(node, 'type') === agentNode.type ? ownValue(ownValue(node, 'data'), 'tools') : undefined;
  if (!Array.isArray(tools)) return [];
  return tools.filter(isObject).flatMap((server) => {
    const [label, allowed] = [ownValue(server, 'server_label'), ownValue(server, 'allowed_tools')];
    if (ownValue(server, 'endpoint_url') !== endpointUrl || typeof label !== 'string' || label === '') return [];
    return { label, allowed: Array.isArray(allowed) ? (allowed as string[]) : undefined };
  });
}
