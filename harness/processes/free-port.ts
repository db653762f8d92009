import { claimPort } from '../../cli/embedded/ports.js';

/**
 * Returns a port of the loopback interface for a process that is about to be started. For about a minute the system gives
 * it to nobody who asks for any free port, such as Temporal's server.
 */
export function freePort(): Promise<number> {
  return claimPort({ port: 0, host: '127.0.0.1', variable: 'PORT' });
}
