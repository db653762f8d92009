// A real MCP server (official SDK, streamable HTTP) that forgets its sessions. Like the SDK, it answers requests of an
// unknown session with 404.
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { startHttpServer } from '../../cli/sandbox/http-server.js';
import { sendJson } from './fake-mcp-server.js';

/** A message of a session. `call`: the number of tool calls of its session so far. */
export interface Coming {
  method: string;
  session: number;
  call: number;
}

export interface ForgetfulServer {
  url: string;
  /** The arguments of the calls that were executed. */
  carriedOut: number[];
  /** The number of sessions that were opened. */
  sessions: () => number;
  close: () => Promise<void>;
}

interface Session {
  number: number;
  transport: StreamableHTTPServerTransport;
  calls: number;
}

/** `forgets` is called before each message; if it returns true, the session no longer exists. */
export async function startForgetfulServer(forgets: (coming: Coming) => boolean): Promise<ForgetfulServer> {
  const known = new Map<string, Session>();
  const carriedOut: number[] = [];
  let opened = 0;
  const http = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? undefined : (JSON.parse(text) as { method?: string });
    const method = body?.method ?? request.method ?? '';
    const id = request.headers['mcp-session-id'];
    if (method === 'initialize') {
      const session = { number: (opened += 1), calls: 0 };
      const transport = new StreamableHTTPServerTransport({
        enableJsonResponse: true,
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (sessionId) => void known.set(sessionId, { ...session, transport }),
      });
      await createTools(carriedOut).connect(transport);
      return transport.handleRequest(request, response, body);
    }
    const session = known.get(String(id));
    if (session !== undefined && method === 'tools/call') session.calls += 1;
    if (session === undefined || forgets({ method, session: session.number, call: session.calls })) {
      known.delete(String(id));
      const error = { code: -32_001, message: 'Session not found' };
      return sendJson(response, { jsonrpc: '2.0', error, id: null }, 404);
    }
    return session.transport.handleRequest(request, response, body);
  });
  return { url: `${http.url}/mcp`, carriedOut, sessions: () => opened, close: () => http.close() };
}

function createTools(carriedOut: number[]): McpServer {
  const server = new McpServer({ name: 'forgetful', version: '1.0.0' });
  server.registerTool('note', { inputSchema: { n: z.number() } }, ({ n }) => {
    carriedOut.push(n);
    return { content: [{ type: 'text', text: `noted ${n}` }] };
  });
  return server;
}
