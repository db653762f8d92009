import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

interface Health {
  registry: Registry;
  /** Returns further metrics in Prometheus' text format, and refreshes those of the registry that need it. */
  moreMetrics: () => Promise<string>;
  /** The answer to `/readyz`. A rejection means that the process is not ready. */
  readiness: () => Promise<Readiness>;
}

interface Readiness {
  isReady: boolean;
  /** Contains a status word and possibly flags of the checked parts, but never an address or an error. */
  body: object;
}

/** Scrapers and probes need only a few connections. */
const MAX_CONNECTIONS = 100;

/**
 * Serves `/healthz` (alive), `/readyz` (can do its work) and `/metrics` (Prometheus), as docs/operate/operations.md
 * describes. If the port is in use, rejects with a sentence for the person who started the process.
 */
export async function startHealthServer(host: string, port: number, health: Health): Promise<Server> {
  const { registry } = health;
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type }).end(body);
    const json = (status: number, body: object) => answer(status, 'application/json', JSON.stringify(body));
    const path = request.url?.split('?')[0];
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz') {
      health.readiness().then(
        ({ isReady, body }) => json(isReady ? 200 : 503, body),
        () => json(503, { status: 'unavailable' }),
      );
      return undefined;
    }
    if (path === '/metrics') {
      health
        .moreMetrics()
        .then(async (more) => [await registry.metrics(), more])
        .then(
          (texts) => answer(200, registry.contentType, texts.join('\n')),
          () => answer(500, 'text/plain', ''),
        );
      return undefined;
    }
    return json(404, { detail: 'Not found.', code: 'not_found' });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = new Error(`the port ${port} for metrics on ${host} is already in use; set another one.`);
      reject(error.code === 'EADDRINUSE' ? inUse : error);
    });
    server.listen(port, host, resolve);
  });
  return server;
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
