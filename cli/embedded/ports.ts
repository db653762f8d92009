import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { StartError } from './start-error.js';

export interface PortRequest {
  /** 0 selects a free port. */
  port: number;
  host: string;
  /** The variable that configures the port. */
  variable: string;
}

/** Returns the port to use. Throws StartError that names the variable if the port cannot be used. */
export async function claimPort({ port, host, variable }: PortRequest): Promise<number> {
  let listening: Server;
  try {
    listening = await listen(port, host);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new StartError(`Port ${port} is in use: set ${variable} to a free port, or to 0 to have one picked.`);
    }
    if (code === 'EACCES')
      throw new StartError(`Port ${port} may not be used by this user: set ${variable} to another.`);
    throw new StartError(`Port ${port} on ${host} cannot be used (${code}): set ${variable} to another.`);
  }
  const { port: claimed } = listening.address() as AddressInfo;
  if (port === 0) await reserve(listening, claimed, host);
  await close(listening);
  return claimed;
}

export async function isInUse({ port, host }: Pick<PortRequest, 'port' | 'host'>): Promise<boolean> {
  try {
    await close(await listen(port, host));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  }
}

async function listen(port: number, host: string): Promise<Server> {
  const listening = createServer().listen({ port, host, exclusive: true });
  await once(listening, 'listening');
  return listening;
}

async function close(listening: Server): Promise<void> {
  listening.close();
  await once(listening, 'close');
}

/**
 * Reserves the port for the child. A connection that the listening side closes first stays in TIME_WAIT. Meanwhile the
 * kernel does not assign the port to processes that request any free port, but the child can bind to it by number.
 */
async function reserve(listening: Server, port: number, host: string): Promise<void> {
  const accepted = once(listening, 'connection') as Promise<[Socket]>;
  const client = connect({ port, host }).resume();
  const [server] = await accepted;
  server.resume().end();
  await Promise.all([once(client, 'close'), once(server, 'close')]);
}
