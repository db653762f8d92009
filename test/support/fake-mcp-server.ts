// An MCP server that misbehaves as a test demands, and records its requests. It uses streamable HTTP unless scripted
// otherwise.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { startHttpServer } from '../../cli/sandbox/http-server.js';

interface McpRequest {
  /** The JSON-RPC method, or the HTTP method of a request without a message. */
  method: string;
  path: string;
  id: unknown;
  params: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  /** True if the caller closed the connection before the answer was complete. */
  aborted: boolean;
}

/** Sends the answer itself, or returns the `result` of the answer. */
export type McpHandler = (request: McpRequest, response: ServerResponse) => unknown;

/**
 * The handlers by JSON-RPC method or HTTP method; `*` takes precedence. A handler that returns undefined has sent the
 * answer itself.
 */
export type McpScript = Record<string, McpHandler>;

export interface FakeMcpEndpoint {
  url: string;
  /** The script may be changed while the server runs. */
  script: McpScript;
  requests: McpRequest[];
  /** The texts of the messages, in order. */
  bodies: string[];
  /** The methods of the requests, in order. */
  methods: () => string[];
}

export interface FakeMcpServer {
  origin: string;
  /** Adds a further server under its own path. */
  endpoint: (script?: McpScript) => FakeMcpEndpoint;
  close: () => Promise<void>;
}

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'fake', version: '1' },
};

const DEFAULTS: McpScript = {
  initialize: (_request, response) => {
    response.setHeader('mcp-session-id', 'session-1');
    return INITIALIZED;
  },
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ params }) => ({ content: [{ type: 'text', text: JSON.stringify(params['arguments']) }] }),
};

export async function startFakeMcpServer(): Promise<FakeMcpServer> {
  const endpoints: (Pick<FakeMcpEndpoint, 'script' | 'requests' | 'bodies'> & { path: string })[] = [];
  const server = await startHttpServer(async (incoming, response) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://fake');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const message = (text === '' ? {} : JSON.parse(text)) as Partial<McpRequest>;
    const { id, params = {}, method = incoming.method ?? 'GET' } = message;
    const request: McpRequest = { method, path: pathname, id, params, headers: incoming.headers, aborted: false };
    const endpoint = endpoints.find(({ path }) => pathname === path || pathname.startsWith(`${path}/`));
    endpoint?.requests.push(request);
    endpoint?.bodies.push(text);
    response.once('close', () => (request.aborted = !response.writableFinished));
    const handler = endpoint?.script['*'] ?? endpoint?.script[method] ?? DEFAULTS[method];
    if (handler === undefined) {
      response.writeHead(id === undefined && incoming.method === 'POST' ? 202 : 405).end();
      return;
    }
    const result = await handler(request, response);
    if (result !== undefined) sendJson(response, { jsonrpc: '2.0', id, result });
  });
  return {
    origin: server.url,
    endpoint(script = {}) {
      const path = `/server-${endpoints.length}`;
      const [requests, bodies]: [McpRequest[], string[]] = [[], []];
      endpoints.push({ path, script, requests, bodies });
      return {
        url: `${server.url}${path}`,
        script,
        requests,
        bodies,
        methods: () => requests.map(({ method }) => method),
      };
    },
    close: () => server.close(),
  };
}

export function sendJson(response: ServerResponse, message: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

/** Answers with this text as the result, because JSON.stringify would change its numbers and spaces. */
export function writtenResult(result: string): McpHandler {
  return ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"jsonrpc":"2.0","id":${String(id)},"result":${result}}`);
  };
}

/** Starts an event stream; `event` sends one message, with an id if one is given. */
export function openEvents(response: ServerResponse): { event: (message: unknown, id?: string) => void } {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  return {
    event: (message, id) => {
      const data = typeof message === 'string' ? message : JSON.stringify(message);
      response.write(`${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${data}\n\n`);
    },
  };
}

/** A script for the older transport: one event stream for all answers, and `/message` for the requests. */
export function sseScript(handlers: McpScript = {}): McpScript {
  let stream: ServerResponse | undefined;
  // The default handler sets a header, which the open stream has sent already.
  const defaults: McpScript = { ...DEFAULTS, initialize: () => INITIALIZED };
  return {
    '*': async (request, response) => {
      if (request.method === 'GET') {
        stream = response;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`event: endpoint\ndata: ${request.path}/message\n\n`);
        return;
      }
      if (!request.path.endsWith('/message')) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(202).end('Accepted');
      const handler = handlers[request.method] ?? defaults[request.method];
      if (handler === undefined || stream === undefined) return;
      const answer = { jsonrpc: '2.0', id: request.id, result: await handler(request, stream) };
      if (answer.result !== undefined) stream.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    },
  };
}
