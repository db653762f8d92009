// Which connections requests to users' addresses travel on.
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher } from 'undici';
import { createGuardedConnector } from './address-guard.js';

export interface Connections {
  /**
   * Connections that are kept open between the requests of one tenant and shared with no other: what a server sends
   * behind an answer, by mistake or because a request made it, must not be taken for the answer to somebody else.
   */
  keptFor(tenant: string): Dispatcher;
  /** A connection for one request. */
  oneShot: Dispatcher;
  /** Cuts what is still under way: a connection that hangs must not hold up the end of the process. */
  close(): Promise<void>;
}

const MAX_TENANTS = 200;
const MAX_HEADER_BYTES = 64 * 1024;

export function createConnections({ allowPrivateNetwork }: { allowPrivateNetwork: boolean }): Connections {
  const connect = createGuardedConnector(allowPrivateNetwork);
  const shared = { connect, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };
  // Requests under way on the connections that are given up still end.
  const kept = new LRUCache<string, Agent>({ max: MAX_TENANTS, dispose: (agent) => void agent.close() });
  const oneShot = new Agent({ ...shared, pipelining: 0 });
  return {
    keptFor(tenant) {
      const known = kept.get(tenant);
      if (known !== undefined) return known;
      // As many connections as there are calls: a call that waited for one would wait on its target's time.
      const agent = new Agent(shared);
      kept.set(tenant, agent);
      return agent;
    },
    oneShot,
    async close() {
      await Promise.all([oneShot, ...kept.values()].map((agent) => agent.destroy()));
    },
  };
}
