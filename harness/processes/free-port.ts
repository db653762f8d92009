import { claimPort } from '../../cli/embedded/ports.js';

/**
 * Returns a port of the loopback interface for a process that is about to be started. For about a minute, the system
 * does not assign it to processes that request any free port, as Temporal's server does.
 */
export function freePort(): Promise<number> {
  return claimPort({ port: 0, host: '127.0.0.1', variable: 'PORT' });
}
