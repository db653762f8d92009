import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import { answerClientError } from './client-error.js';

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

/** Throws a sentence for the person who started the process when the port is taken. */
export function listen(
  listener: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<ListeningServer> {
  const open = new Set<ServerResponse>();
  let isEnding = false;
  const server = createServer((request, response) => {
    if (isEnding) response.shouldKeepAlive = false;
    open.add(response);
    response.once('close', () => open.delete(response));
    listener(request, response);
  }).on('clientError', answerClientError);
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
