// A bare TCP server, for answers that no HTTP server sends.
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface RawServer {
  host: string;
  url: string;
  /** The text received on each connection. */
  received: string[];
  close: () => Promise<void>;
}

/** `serve` is called with each request of a connection once its head is complete; bodies are not parsed. */
export async function startRawServer(
  serve: (socket: Socket, request: string, connection: number) => void,
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  const server = createServer((socket) => {
    const connection = received.push('') - 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let pending = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received[connection] += chunk;
      pending += chunk;
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const request = pending.slice(0, end);
        pending = pending.slice(end + 4);
        if (/^[A-Z]+ /.test(request)) serve(socket, request, connection);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}`,
    received,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
