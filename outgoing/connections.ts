// Chooses the connection for each request to a user's address.
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher } from 'undici';
import { createGuardedConnector, type AddressRules } from './address-guard.js';

interface Connections {
  /**
   * Connections that are kept open for the requests of one tenant and are never shared with another. A server may send
   * more than one answer, by mistake or because a request provoked it, and the rest must not be taken for another
   * tenant's answer.
   */
  keptFor(tenant: string): Dispatcher;
  /** Opens a new connection for each request. */
  oneShot: Dispatcher;
  /** Aborts the requests in flight, because a connection that hangs must not delay the end of the process. */
  close(): Promise<void>;
}

const MAX_TENANTS = 200;
const MAX_HEADER_BYTES = 64 * 1024;

export function createConnections(rules: AddressRules): Connections {
  const connect = createGuardedConnector(rules);
  const shared = { connect, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };
  // The requests in flight of a tenant still finish when its connections are evicted.
  const kept = new LRUCache<string, Agent>({ max: MAX_TENANTS, dispose: (agent) => void agent.close() });
  const oneShot = new Agent({ ...shared, pipelining: 0 });
  return {
    keptFor(tenant) {
      const known = kept.get(tenant);
      if (known !== undefined) return known;
      // The number of connections is unlimited, because a call that waited for one would lose time to another call's
      // target.
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
