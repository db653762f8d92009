import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerClientError, answerConnect, answerMissingHost, answerUnknownExpectation } from './client-error.js';

export interface ListeningServer {
  server: Server;
  /** Each connection ends with the answer that is next on it. */
  endConnections: () => void;
  /** The real one, also where 0 was asked for. */
  port: number;
}

/** What is still open then is cut, so that the process ends within the 15 s of operations.md. */
const DRAIN_MS = 10_000;
const SWEEP_MS = 100;
/**
 * How long connections that wait for a request are kept: closed at once, they would cut those whose request is on its
 * way to us.
 */
const LINGER_MS = 1_000;

/** What one connection, and all of them together, may take of the process. */
export interface ConnectionLimits {
  /** From the first byte (of a new connection: from its opening) to the end of the headers. */
  headersTimeoutMs: number;
  /** To the end of the body: ten megabytes at a megabit a second. */
  requestTimeoutMs: number;
  /** Longer than the idle time of the usual load balancers, which must be the ones to hang up. */
  keepAliveTimeoutMs: number;
  /** How often the first two are looked at. */
  checkingIntervalMs: number;
  /** Further connections are closed as they come. */
  maxConnections: number;
  /** Then the connection is closed: bounds what a client can have under way that does not wait for answers. */
  maxRequestsPerConnection: number;
}

const LIMITS: ConnectionLimits = {
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 120_000,
  keepAliveTimeoutMs: 65_000,
  checkingIntervalMs: 5_000,
  maxConnections: 4_000,
  maxRequestsPerConnection: 1_000,
};
const MAX_HEAD_BYTES = 16 * 1024;

interface Address {
  host: string;
  port: number;
}

/** Throws a sentence for the person who started the process when the port is taken. */
export function listen(
  listener: RequestListener,
  { host, port }: Address,
  limits: ConnectionLimits = LIMITS,
): Promise<ListeningServer> {
  const open = new Set<ServerResponse>();
  let isEnding = false;
  const server = createLimitedServer((request, response) => {
    if (isEnding) response.shouldKeepAlive = false;
    open.add(response);
    response.once('close', () => open.delete(response));
    listener(request, response);
  }, limits);
  const endConnections = (): void => {
    isEnding = true;
    for (const response of open) response.shouldKeepAlive = false;
  };
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = new Error(`port ${port} on ${host} is already in use; set PORT to another one.`);
      reject(error.code === 'EADDRINUSE' ? taken : error);
    });
    server.listen(port, host, () => resolve({ server, endConnections, port: (server.address() as AddressInfo).port }));
  });
}

function createLimitedServer(listener: RequestListener, limits: ConnectionLimits): Server {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkingIntervalMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Checked below, to be answered like everything else.
    requireHostHeader: false,
  });
  server.maxConnections = limits.maxConnections;
  server.maxRequestsPerSocket = limits.maxRequestsPerConnection;
  const answer: RequestListener = (request, response) => {
    latest.set(request.socket, response);
    if (!answerMissingHost(response)) listener(request, response);
  };
  server.on('request', answer);
  // The body is asked for where it is read (`acceptBody`), after the caller was let in. A client that was refused may or
  // may not send it: what comes next on the connection could be taken for a request.
  server.on('checkContinue', (request, response) => {
    response.setHeader('Connection', 'close');
    answer(request, response);
  });
  server.on('checkExpectation', (_request, response) => answerUnknownExpectation(response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerClientError(error, socket, latest.get(socket)),
  );
  server.on('connect', (_request, socket) => answerConnect(socket, latest.get(socket)));
  return server;
}

/**
 * Accepts no further connection. Requests on those that are there are answered, with `Connection: close`: a caller that
 * keeps asking on one connection learns to ask somewhere else, and none of its requests is cut.
 */
export async function closeServer({ server, endConnections }: ListeningServer): Promise<void> {
  endConnections();
  // The HTTP server's own `close` would close what is idle at this moment.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  let sweep: NodeJS.Timeout | undefined;
  const linger = setTimeout(() => {
    sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  }, LINGER_MS);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(linger);
  clearInterval(sweep);
  clearTimeout(cut);
  // Ends the timer with which it looks for requests that take too long.
  server.close();
}
