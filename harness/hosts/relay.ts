// Forwards TCP connections, and delays the bytes of each direction.
import { once } from 'node:events';
import net from 'node:net';

interface RelayOptions {
  /** The local address. */
  listenOn: string;
  /** 0 picks a free port. */
  port?: number;
  to: { host: string; port: number };
  /** The delay of each direction, in milliseconds. */
  delayMs: number;
}

export interface Relay {
  port: number;
  /** The number of connections that the relay has taken so far. */
  connections: () => number;
  close: () => void;
}

export async function startRelay({ listenOn, port = 0, to, delayMs }: RelayOptions): Promise<Relay> {
  const open = new Set<net.Socket>();
  let taken = 0;
  const server = net.createServer({ allowHalfOpen: true }, (near) => {
    taken += 1;
    const far = net.connect({ ...to, allowHalfOpen: true });
    pass(near, far, delayMs);
    pass(far, near, delayMs);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.setNoDelay(true);
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => open.delete(socket));
    }
  });
  server.listen(port, listenOn);
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    connections: () => taken,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Timers of the same delay fire in the order in which they were set, so bytes stay in order. */
function pass(from: net.Socket, to: net.Socket, delayMs: number): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
}
