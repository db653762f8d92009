// All callers of addresses that users name, as the nodes, agents, webhooks and endpoints call them.
import type { AddressRules } from '../../outgoing/refused-addresses.js';
import { createMcpClient } from '../../outgoing/mcp-client.js';
import type { McpServer } from '../../outgoing/mcp-types.js';
import {
  createOutgoingClient,
  toUrl,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../outgoing/outgoing-client.js';
import { listTools } from './mcp.js';

interface Caller {
  name: string;
  /** Rejects with the error that the caller makes of a refusal. */
  ask: (url: string, options?: { timeoutMs?: number; headers?: Record<string, string> }) => Promise<unknown>;
}

export interface Callers {
  all: Caller[];
  http: Caller[];
  mcp: Caller[];
  /** Sends a GET with the HTTP client; `given` overrides its fields. */
  send: (url: string, given: Partial<OutgoingRequest>) => Promise<OutgoingResponse>;
  close: () => Promise<void>;
}

export function createCallers(rules: AddressRules): Callers {
  const client = createOutgoingClient(rules);
  const mcpClient = createMcpClient(rules);
  const send = async (url: string, given: Partial<OutgoingRequest>): Promise<OutgoingResponse> => {
    const base = { method: 'GET', headers: {}, body: undefined, timeoutMs: 5_000 };
    return client.send({ ...base, signal: new AbortController().signal, url: toUrl(url), ...given });
  };
  const request = (name: string, given: Partial<OutgoingRequest>): Caller => ({
    name,
    ask: (url, asked) => send(url, { ...given, ...asked }),
  });
  const mcp = (transport: McpServer['transport']): Caller => ({
    name: `MCP over ${transport}`,
    ask: (url, { timeoutMs = 5_000, headers = {} } = {}) =>
      listTools(mcpClient, url, { transport, timeoutMs, headers }),
  });
  const webhook = { method: 'POST', body: '{}', followRedirects: false, readBody: false };
  const http = [
    request('HTTP node, GET', { tenant: '1' }),
    request('HTTP node, POST', { method: 'POST', body: '{}', tenant: '1' }),
    request('webhook', webhook),
  ];
  const mcpCallers = [mcp('streamable_http'), mcp('sse'), mcp('auto')];
  return {
    all: [...http, ...mcpCallers],
    http,
    mcp: mcpCallers,
    send,
    async close() {
      await Promise.all([client.close(), mcpClient.close()]);
    },
  };
}
