// Clients of `/mcp`: the official SDK's, one that shares no code with it, and bare requests.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { MCPClient } from '@ai-sdk/mcp';
import type { ApiClient } from '../../../harness/client/api-client.js';

export type { CallToolResult };

export interface OfficialClient {
  client: Client;
  transport: StreamableHTTPClientTransport;
}

/** Connects the official client. `path` is `/mcp`, or `/mcp/build` for an assistant. */
export async function connectOfficial(
  apiUrl: string,
  apiKey: string,
  { path = '/mcp', name = 'test' } = {},
): Promise<OfficialClient> {
  const client = new Client({ name, version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${apiUrl}${path}`), {
    requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 200,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 100,
    },
  });
  await client.connect(transport);
  return { client, transport };
}

/** Calls a tool with a time-out that suits a busy machine. */
export async function call(
  { client }: OfficialClient,
  name: string,
  input: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[2] = {},
): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: input }, undefined, {
    timeout: 90_000,
    ...options,
  })) as CallToolResult;
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

export function runOf({ _meta: meta }: CallToolResult): string {
  return String(meta?.['run_id']);
}

/**
 * Connects the MCP client of the AI SDK. The package is ESM-only and imported dynamically, because a static import
 * would make mocha load the test file twice.
 */
export async function connectOther(apiUrl: string, apiKey: string): Promise<MCPClient> {
  const { createMCPClient } = await import('@ai-sdk/mcp');
  const headers = { Authorization: `Bearer ${apiKey}` };
  return createMCPClient({ transport: { type: 'http', url: `${apiUrl}/mcp`, headers } });
}

/** Creates a workflow that is offered as a tool. Returns the workflow's id and the tool's name. */
export async function offer(
  api: ApiClient,
  project: number,
  data: object,
  title = 'Tool',
): Promise<{ id: number; name: string }> {
  const id = await api.createWorkflow(project, data, title);
  const { status } = await api.patch(`/workflows/${id}/`, { body: { is_tool: true } });
  if (status !== 200) throw new Error(`not offered: ${status}`);
  return { id, name: await nameOf(api, id) };
}

async function nameOf(api: ApiClient, workflowId: number): Promise<string> {
  return (await api.get<{ name: string }>(`/workflows/${workflowId}/tool/`)).body.name;
}

export interface BareAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: {
    id?: unknown;
    result?: Record<string, unknown>;
    error?: { code: number; message: string };
    detail?: string;
    code?: string;
  };
}

export interface BareClient {
  session: string;
  headers: Record<string, string>;
  /** Sends a message as JSON, or a string unchanged, as the body. `headers` override the client's own. */
  send: (message: unknown, headers?: Record<string, string>) => Promise<BareAnswer>;
  request: (id: unknown, method: string, params?: object) => Promise<BareAnswer>;
}

export async function postBare(apiUrl: string, message: unknown, headers: Record<string, string>): Promise<BareAnswer> {
  const response = await fetch(`${apiUrl}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (isJson ? JSON.parse(text) : {}) as BareAnswer['body'],
  };
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bare', version: '1' } },
};

export async function connectBare(apiUrl: string, apiKey: string, version = '2025-11-25'): Promise<BareClient> {
  const authorization = { authorization: `Bearer ${apiKey}` };
  const begun = await postBare(apiUrl, INITIALIZE, authorization);
  const session = begun.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no session: ${begun.status} ${begun.text}`);
  const headers = { ...authorization, 'mcp-session-id': session, 'mcp-protocol-version': version };
  const send: BareClient['send'] = (message, more = {}) => postBare(apiUrl, message, { ...headers, ...more });
  return {
    session,
    headers,
    send,
    request: (id, method, params = {}) => send({ jsonrpc: '2.0', id, method, params }),
  };
}

/** Parses the messages in a text of server-sent events. */
export function messagesIn(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data!) as Record<string, unknown>);
}
