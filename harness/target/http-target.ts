// A programmable HTTP server that the nodes under test call. It records all requests.
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { startHttpServer } from '../../cli/sandbox/http-server.js';
import { eventually } from '../timing/eventually.js';
import { createGate, type Gate } from '../timing/gate.js';
import { pauseUnlessClosed } from '../timing/pause-unless-closed.js';

export interface TargetRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: string;
  receivedAt: number;
  /** True if the connection was closed before the whole answer was sent. */
  aborted: boolean;
}

export interface TargetReply {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** An object is sent as JSON. */
  body?: string | Buffer | object;
  delayMs?: number;
  /** The reply waits for this promise, unless the caller closes the connection. */
  until?: Promise<unknown>;
  /** The reply waits until each of these paths has been called. */
  after?: string[];
  /** Cuts the connection instead of answering. */
  reset?: boolean;
}

export interface HttpTarget {
  url: string;
  /** All requests, oldest first. */
  requests: TargetRequest[];
  requestsTo: (path: string) => TargetRequest[];
  /**
   * Sets the replies to the path's requests, in the order of all its requests since the start of the target. The last
   * one is repeated.
   */
  on: (path: string, replies: TargetReply | TargetReply[] | ((request: TargetRequest) => TargetReply)) => void;
  /** Answers all past and future calls of the path `/hold/<name>`, like a call of `/release/<name>`. */
  release: (path: string) => void;
  close: () => Promise<void>;
}

/** Longer than any test that uses `after`. */
const AFTER_WITHIN_MS = 600_000;

type Route = (request: TargetRequest, callNumber: number) => TargetReply;

/**
 * If the path has no route, its first segment selects the answer: `/delay/<ms>`, `/hold/<name>` (answered after
 * `/release/<name>`), `/status/<code>`, `/bytes/<count>`, `/redirect?to=<url>&status=<code>` or `/reset`. Any other
 * path echoes the request as JSON. Further segments only distinguish requests (`/delay/1000/left`). `listenOn` is the
 * port, for a target that is restarted at the same address.
 */
export async function startHttpTarget(listenOn = 0): Promise<HttpTarget> {
  const requests: TargetRequest[] = [];
  const routes = new Map<string, Route>();
  const gates = new Map<string, Gate>();
  const gateOf = (name: string): Gate => {
    const gate = gates.get(name) ?? createGate();
    gates.set(name, gate);
    return gate;
  };
  const server = await startHttpServer(async (incoming, response) => {
    const request = await record(incoming, response);
    requests.push(request);
    const callNumber = requests.filter(({ path }) => path === request.path).length - 1;
    const planned = routes.get(request.path)?.(request, callNumber) ?? builtIn(request, gateOf);
    const isCalled = (awaited: string): boolean => requests.some(({ path }) => path === awaited);
    if (planned.after !== undefined) {
      await eventually(() => request.aborted || planned.after!.every(isCalled), { timeoutMs: AFTER_WITHIN_MS });
    }
    await reply(incoming, response, planned);
  }, listenOn);
  return {
    url: server.url,
    requests,
    requestsTo: (path) => requests.filter((request) => request.path === path),
    on(path, replies) {
      if (typeof replies === 'function') routes.set(path, replies);
      else {
        const list = Array.isArray(replies) ? replies : [replies];
        routes.set(path, (_request, callNumber) => list[Math.min(callNumber, list.length - 1)] ?? {});
      }
    },
    release: (path) => gateOf(path.split('/')[2]!).open(),
    close: () => server.close(),
  };
}

async function record(incoming: IncomingMessage, response: ServerResponse): Promise<TargetRequest> {
  const receivedAt = Date.now();
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://target');
  const request: TargetRequest = {
    method: incoming.method ?? 'GET',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
    receivedAt,
    aborted: false,
  };
  response.once('close', () => (request.aborted = !response.writableFinished));
  return request;
}

function builtIn(request: TargetRequest, gateOf: (name: string) => Gate): TargetReply {
  const [, kind, argument] = request.path.split('/');
  const { method, path, query, headers, body } = request;
  const echo: TargetReply = { body: { method, path, query, headers, body } };
  if (kind === 'delay') return { ...echo, delayMs: Number(argument) };
  if (kind === 'hold') return { ...echo, until: gateOf(argument!).opened };
  if (kind === 'release') gateOf(argument!).open();
  if (kind === 'status') return { status: Number(argument), body: `status ${argument}` };
  if (kind === 'bytes') return { body: 'x'.repeat(Number(argument)), headers: { 'content-type': 'text/plain' } };
  if (kind === 'redirect') return { status: Number(query['status'] ?? 302), headers: { location: query['to'] ?? '/' } };
  if (kind === 'reset') return { reset: true };
  return echo;
}

async function reply(incoming: IncomingMessage, response: ServerResponse, planned: TargetReply): Promise<void> {
  if (planned.delayMs !== undefined && !(await pauseUnlessClosed(response, planned.delayMs))) return;
  if (planned.until !== undefined) await Promise.race([planned.until, once(response, 'close')]);
  if (response.destroyed) return;
  if (planned.reset === true) {
    incoming.socket.resetAndDestroy();
    return;
  }
  const { body = '' } = planned;
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  response.writeHead(planned.status ?? 200, {
    'content-type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
    ...planned.headers,
  });
  response.end(isJson ? JSON.stringify(body) : body);
}
