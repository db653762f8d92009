import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerClientError, answerConnect, answerMissingHost, answerUnknownExpectation } from './client-error.js';
import { isUnhurried } from './stream-body.js';

export interface ListeningServer {
  server: Server;
  /** Closes each connection after its next answer. */
  endConnections: () => void;
  /** Closes idle connections, but none while a complete answer is still being sent to a client. */
  closeIdle: () => void;
  /** The port in use, also if port 0 was requested. */
  port: number;
}

/** Connections that are still open after this time are cut, so that the process ends within 15 s of SIGTERM. */
const DRAIN_MS = 10_000;
const SWEEP_MS = 100;
/**
 * Idle connections stay open for this time at shutdown: closing them at once would cut requests that are in transit.
 */
const LINGER_MS = 1_000;

export interface ConnectionLimits {
  /** The time from the first byte (on a new connection, from its opening) to the end of the headers. */
  headersTimeoutMs: number;
  /**
   * The time from the end of the headers to the end of the body, enough for ten megabytes at a megabit a second.
   * Streamed bodies are exempt; stream-body.ts limits the time without a byte instead.
   */
  requestTimeoutMs: number;
  /** Longer than the idle timeout of the usual load balancers, which must close the connection first. */
  keepAliveTimeoutMs: number;
  /** The interval at which the first two limits are checked. */
  checkingIntervalMs: number;
  /** A further connection replaces the one that has been idle for longest, or is closed itself if none is idle. */
  maxConnections: number;
  /**
   * The connection is closed after this many requests, which bounds the work of a client that pipelines without reading
   * answers.
   */
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
/** Node's own limit: no body may take longer, not even a streamed one. */
const LONGEST_REQUEST_MS = 3_600_000;

interface Address {
  host: string;
  port: number;
}

/** Several parts of the service listen for the end of an answer; an answer that is a stream adds five listeners. */
const MOST_LISTENERS = 30;

/** If the port is in use, rejects with an explanation for the person who started the process. */
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
    response.setMaxListeners(MOST_LISTENERS);
    response.once('close', () => open.delete(response));
    listener(request, response);
  }, limits);
  const endConnections = (): void => {
    isEnding = true;
    for (const response of open) response.shouldKeepAlive = false;
  };
  const closeIdle = (): void => {
    // Node.js calls a connection idle as soon as its answer is complete, even if the client has not taken all of it.
    // Node.js reports no end of a pipelined answer that still waited for earlier ones when the connection was lost.
    const isSending = [...open].some(({ writableEnded, req }) => writableEnded && !req.socket.destroyed);
    if (!isSending) server.closeIdleConnections();
  };
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const portInUse = new Error(`port ${port} on ${host} is already in use; set PORT to another one.`);
      reject(error.code === 'EADDRINUSE' ? portInUse : error);
    });
    server.listen(port, host, () => {
      resolve({ server, endConnections, closeIdle, port: (server.address() as AddressInfo).port });
    });
  });
}

function createLimitedServer(listener: RequestListener, limits: ConnectionLimits): Server {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: LONGEST_REQUEST_MS,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkingIntervalMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    // The Host header is checked below, so that its absence gets the usual error shape.
    requireHostHeader: false,
  });
  server.maxRequestsPerSocket = limits.maxRequestsPerConnection;
  const room = createRoom(server, limits.maxConnections);
  const late = watchForLate(server, limits);
  const answer: RequestListener = (request, response) => {
    latest.set(request.socket, response);
    room.hold(request.socket, response);
    late.watch(request);
    if (!answerMissingHost(response)) listener(request, response);
  };
  server.on('request', answer);
  // `askForBody` requests the body once the caller is authorized. A refused client may or may not send it, so the next
  // bytes could be mistaken for a request and the connection must end.
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

/** Refuses requests whose bodies do not arrive in time, except streamed bodies (`isUnhurried`). */
function watchForLate(server: Server, { requestTimeoutMs, checkingIntervalMs }: ConnectionLimits) {
  const receiving = new Map<IncomingMessage, number>();
  const check = setInterval(() => {
    const earliest = performance.now() - requestTimeoutMs;
    for (const [request, sinceMs] of receiving) {
      if (request.complete || request.destroyed || isUnhurried(request)) receiving.delete(request);
      else if (sinceMs < earliest) {
        receiving.delete(request);
        const error = Object.assign(new Error('the request took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
        server.emit('clientError', error, request.socket);
      }
    }
  }, checkingIntervalMs);
  check.unref();
  server.once('close', () => clearInterval(check));
  return {
    watch(request: IncomingMessage): void {
      if (!request.complete) receiving.set(request, performance.now());
    },
  };
}

/**
 * Limits the connections of a server. Above the limit, the connection that has been idle for longest is closed. A
 * connection whose request is being answered stays open.
 */
function createRoom(server: Server, maxConnections: number) {
  let open = 0;
  /** Connections without a request. The one that has waited longest comes first. */
  const waiting = new Set<Socket>();
  /** The number of a connection's requests that are not answered yet; several if the client pipelines them. */
  const pending = new WeakMap<Socket, number>();
  server.on('connection', (socket) => {
    open += 1;
    waiting.add(socket);
    socket.once('close', () => {
      open -= 1;
      waiting.delete(socket);
    });
    if (open <= maxConnections) return;
    const [first] = waiting;
    first?.destroy();
  });
  return {
    hold(socket: Socket, response: ServerResponse): void {
      waiting.delete(socket);
      pending.set(socket, (pending.get(socket) ?? 0) + 1);
      response.once('close', () => {
        const left = pending.get(socket)! - 1;
        pending.set(socket, left);
        if (left === 0 && !socket.destroyed) waiting.add(socket);
      });
    },
  };
}

/**
 * Stops accepting connections. Requests on open connections are answered with `Connection: close`: a caller that keeps
 * sending on one connection learns to open another. No request that has arrived, and no answer, is cut before
 * `DRAIN_MS` is over.
 */
export async function closeServer({ server, endConnections, closeIdle }: ListeningServer): Promise<void> {
  endConnections();
  // `close` of the HTTP server would also close connections that are idle at this moment.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  let sweep: NodeJS.Timeout | undefined;
  const linger = setTimeout(() => {
    sweep = setInterval(closeIdle, SWEEP_MS);
  }, LINGER_MS);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(linger);
  clearInterval(sweep);
  clearTimeout(cut);
  // Ends Node's own timer that checks for slow requests.
  server.close();
}
