import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

interface Health {
  registry: Registry;
  /** Returns further metrics in Prometheus' text format. */
  moreMetrics: () => Promise<string>;
  /** Throws or returns false while the worker cannot do its work. */
  isReady(): Promise<boolean>;
}

/**
 * Serves `/healthz` (alive), `/readyz` (can take work) and `/metrics` (Prometheus). docs/operate/operations.md
 * describes them.
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
      health.isReady().then(
        (yes) => json(yes ? 200 : 503, { status: yes ? 'ok' : 'unavailable' }),
        () => json(503, { status: 'unavailable' }),
      );
      return undefined;
    }
    if (path === '/metrics') {
      Promise.all([registry.metrics(), health.moreMetrics()]).then(
        (texts) => answer(200, registry.contentType, texts.join('\n')),
        () => answer(500, 'text/plain', ''),
      );
      return undefined;
    }
    return json(404, { detail: 'Not found.', code: 'not_found' });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return server;
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
