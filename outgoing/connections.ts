// Keeps the network connections of outgoing-client.ts, which chooses one for each request.
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher } from 'undici';
import { createGuardedConnector } from './address-guard.js';
import type { AddressRules } from './refused-addresses.js';

interface Connections {
  /**
   * Returns persistent connections for the requests of one tenant alone. A server may send more than one answer, by
   * mistake or because a request provoked that, and another tenant must not get the surplus answer.
   */
  persistentFor(tenant: string): Dispatcher;
  oneShot: Dispatcher;
  /** Aborts the requests in flight, because a connection that hangs must not delay the end of the process. */
  close(): Promise<void>;
}

const MAX_TENANTS = 200;
const MAX_HEADER_BYTES = 64 * 1024;

export function createConnections(rules: AddressRules): Connections {
  const connect = createGuardedConnector(rules);
  const shared = { connect, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };
  // An evicted tenant's requests in flight still finish.
  const persistent = new LRUCache<string, Agent>({ max: MAX_TENANTS, dispose: (agent) => void agent.close() });
  const oneShot = new Agent({ ...shared, pipelining: 0 });
  return {
    persistentFor(tenant) {
      const known = persistent.get(tenant);
      if (known !== undefined) return known;
      // The number of connections is unlimited, because otherwise a request would spend its time limit on waiting for
      // slow answers to other requests.
      const agent = new Agent(shared);
      persistent.set(tenant, agent);
      return agent;
    },
    oneShot,
    async close() {
      await Promise.all([oneShot, ...persistent.values()].map((agent) => agent.destroy()));
    },
  };
}
