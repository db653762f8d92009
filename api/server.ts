import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerClientError } from './client-error.js';

export interface ListeningServer {
  server: Server;
  /** The real one, also where 0 was asked for. */
  port: number;
}

/** What is still open then is cut, so that the process ends within the 15 s of operations.md. */
const DRAIN_MS = 10_000;
const SWEEP_MS = 100;

/** Throws a sentence for the person who started the process when the port is taken. */
export function listen(
  listener: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<ListeningServer> {
  const server = createServer(listener).on('clientError', answerClientError);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = new Error(`port ${port} on ${host} is already in use; set PORT to another one.`);
      reject(error.code === 'EADDRINUSE' ? taken : error);
    });
    server.listen(port, host, () => resolve({ server, port: (server.address() as AddressInfo).port }));
  });
}

/** Accepts nothing more and lets requests finish; their connections are closed as soon as they are idle. */
export async function closeServer({ server }: ListeningServer): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
