import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer {
  /** The address without a trailing slash. */
  url: string;
  close: () => Promise<void>;
}

/** Listens on 127.0.0.1, by default on a free port. A handler that throws causes a 500. */
export async function startHttpServer(
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void,
  listenOn = 0,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    void (async () => handler(request, response))().catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(String(error));
    });
  });
  // With the default of 5 s, a connection may be closed at the moment when the next attempt of a node reuses it.
  server.keepAliveTimeout = 60_000;
  server.listen(listenOn, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
