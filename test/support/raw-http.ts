// HTTP as bytes, for requests that no client would send.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawConnection {
  socket: Socket;
  send: (...pieces: (string | Buffer)[]) => void;
  /** The text received so far. */
  received: () => string;
  /** Resolves when the server has closed the connection, with all that it sent. */
  ended: () => Promise<string>;
  close: () => void;
}

/** Opens a connection. The client ends its side as soon as the server ends its own. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  let text = '';
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // A server may also close a connection by a reset.
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  return {
    socket,
    send: (...pieces) => pieces.forEach((piece) => socket.write(piece)),
    received: () => text,
    async ended() {
      await closed;
      return text;
    },
    close: () => socket.destroy(),
  };
}

/** The head with these lines, and the empty line at its end. */
export function head(...lines: string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** The status of each answer in a stream of answers. */
export function statusesIn(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
}
