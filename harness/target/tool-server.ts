// A real MCP server (official SDK, streamable HTTP) in the test process. It records all calls.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

export interface ToolServer {
  url: string;
  calls: { tool: string; arguments: Record<string, unknown>; headers: IncomingHttpHeaders }[];
  /** Every request body as received, oldest first. */
  bodies: string[];
  callsOf: (tool: string) => ToolServer['calls'];
  close: () => Promise<void>;
}

/** The tool `held` answers a call when the promise that this returns for the call's text resolves. */
type Hold = (text: string) => Promise<void>;

/**
 * Starts a server with the tools `add` (a, b), `slow` (ms, and a text that distinguishes calls), `fail` and `note`
 * (text), and with `hold` the tool `held` (text). The server is stateless: each request gets its own `McpServer`.
 */
export async function startToolServer(hold?: Hold): Promise<ToolServer> {
  const calls: ToolServer['calls'] = [];
  const bodies: string[] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      bodies.push(Buffer.concat(chunks).toString());
      const record = (tool: string, given: Record<string, unknown>): void =>
        void calls.push({ tool, arguments: given, headers: request.headers });
      const server = createTools(record, hold);
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      response.on('close', () => void server.close());
      void server
        .connect(transport as Parameters<typeof server.connect>[0])
        .then(() => transport.handleRequest(request, response, JSON.parse(bodies.at(-1)!) as unknown));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    calls,
    bodies,
    callsOf: (tool) => calls.filter((call) => call.tool === tool),
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function createTools(
  record: (tool: string, given: Record<string, unknown>) => void,
  hold: Hold | undefined,
): McpServer {
  const server = new McpServer({ name: 'test-tools', version: '1.0.0' });
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  server.registerTool('add', { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => {
    record('add', { a, b });
    return text(String(a + b));
  });
  const slow = { ms: z.number(), text: z.string().optional() };
  server.registerTool('slow', { description: 'Waits', inputSchema: slow }, async ({ ms, text: name }) => {
    record('slow', { ms, text: name });
    await pause(ms);
    return text(name === undefined ? 'waited' : `waited: ${name}`);
  });
  if (hold !== undefined) {
    const held = { description: 'Waits', inputSchema: { text: z.string() } };
    server.registerTool('held', held, async ({ text: name }) => {
      record('held', { text: name });
      await hold(name);
      return text(`held: ${name}`);
    });
  }
  server.registerTool('fail', { description: 'Fails', inputSchema: {} }, () => {
    record('fail', {});
    return { ...text('it went wrong'), isError: true };
  });
  server.registerTool('note', { description: 'Notes', inputSchema: { text: z.string() } }, ({ text: noted }) => {
    record('note', { text: noted });
    return text(`noted: ${noted}`);
  });
  return server;
}
