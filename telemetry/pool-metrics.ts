import { Gauge, type Registry } from 'prom-client';

interface PoolCounts {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

/** Reads the counts at each scrape. Waiting statements mean that the pool, or the database behind it, is too small. */
export function registerPoolMetrics(registry: Registry, pool: PoolCounts): void {
  const connections = new Gauge({
    name: 'database_connections',
    help: 'Connections of this process to the database: idle or used.',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      connections.set({ state: 'idle' }, pool.idleCount);
      connections.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    },
  });
  const waiting = new Gauge({
    name: 'database_statements_waiting',
    help: 'Statements and transactions of this process that wait for a connection.',
    registers: [registry],
    collect: () => {
      waiting.set(pool.waitingCount);
    },
  });
}
