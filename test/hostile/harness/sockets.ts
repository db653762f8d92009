// Attacks on bare connections: bodies that never come, answers that nobody reads, connections that stay open.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { credentials, type Request, type Tenant } from './tenant.js';

export interface HeldBodies extends Request {
  count: number;
  /** The announced length; if absent, the body is chunked. */
  lengthBytes?: number;
  /** The interval between bytes of the body in milliseconds; if absent, no byte is sent. */
  dripEveryMs?: number;
}

export interface HeldAnswers extends Request {
  count: number;
  /** The speed at which a client reads the answer; if absent, it reads only the beginning. */
  bytesPerSecond?: number;
}

/** Opens requests whose bodies are withheld or dripped, and opens each again when the service has ended it. */
export function holdBodies(tenant: Tenant, { count, lengthBytes, dripEveryMs, ...request }: HeldBodies): Promise<void> {
  const framing = lengthBytes === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${lengthBytes}`;
  return hold(tenant, count, (socket) => {
    socket.write(headOf(tenant, { method: 'POST', ...request }, ['Content-Type: application/json', framing]));
    socket.resume();
    if (dripEveryMs === undefined) return undefined;
    return setInterval(() => socket.write(lengthBytes === undefined ? '1\r\n \r\n' : ' '), dripEveryMs);
  });
}

/** Requests answers and reads nothing after their beginning, or a few bytes a second. */
export function holdAnswers(tenant: Tenant, { count, bytesPerSecond, ...request }: HeldAnswers): Promise<void> {
  return hold(tenant, count, (socket) => {
    socket.write(headOf(tenant, request, []));
    socket.once('data', () => socket.pause());
    if (bytesPerSecond === undefined) return undefined;
    return setInterval(() => void socket.read(bytesPerSecond), 1_000);
  });
}

/** Opens connections that send these bytes, and then nothing more. */
export function holdConnections(tenant: Tenant, count: number, bytes = ''): Promise<void> {
  return hold(tenant, count, (socket) => {
    socket.write(bytes);
    socket.resume();
    return undefined;
  });
}

function headOf(tenant: Tenant, { method = 'GET', path, headers, as }: Request, further: string[]): string {
  const given = Object.entries({ ...credentials(tenant, as), ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, `Host: ${new URL(tenant.apiUrl).host}`, ...given, ...further, '', ''].join(
    '\r\n',
  );
}

type Use = (socket: Socket) => NodeJS.Timeout | undefined;

async function hold(tenant: Tenant, count: number, use: Use): Promise<void> {
  const keep = async (): Promise<void> => {
    for (;;) {
      await holdOne(tenant, use);
      await pause(200);
    }
  };
  await Promise.all(Array.from({ length: count }, keep));
}

function holdOne(tenant: Tenant, use: Use): Promise<void> {
  const { hostname, port } = new URL(tenant.apiUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let timer: NodeJS.Timeout | undefined;
    let head = '';
    socket.once('connect', () => {
      tenant.count('held');
      timer = use(socket);
    });
    socket.on('data', (bytes: Buffer) => {
      if (head === '') tenant.count((head = bytes.toString('latin1', 9, 12)));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => tenant.count(error.code ?? 'error'));
    socket.once('close', () => {
      clearInterval(timer);
      resolve();
    });
  });
}
