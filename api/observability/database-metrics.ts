// Metrics of the whole service, read from the database on a scrape, and from Temporal for the queue of the default
// pool. In this process one read runs at a time, and none while the last result is fresh. A scrape waits two seconds at
// most.
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Logger } from '../../telemetry/logger.js';
import type { Database } from '../../db/core/client.js';
import { readServiceFigures, type ServiceFigures } from '../../db/observability/metrics-repository.js';
import type { ReadPools } from '../pools/pool-figures.js';

const FRESH_MS = 5_000;
const WAIT_MS = 2_000;

const HELP: Record<keyof ServiceFigures, [name: string, help: string]> = {
  openRuns: ['runs_open', 'Runs that have been accepted and not ended.'],
  unstartedAgeSeconds: ['runs_unstarted_oldest_age_seconds', 'Age of the oldest accepted run that has not started.'],
  stuckRuns: ['runs_stuck', 'Open runs whose workflow task fails again and again.'],
  pendingApprovals: ['approvals_pending', 'Approval requests that wait for a person.'],
  pendingWebhooks: ['webhook_backlog', 'Webhook events that are still to be delivered.'],
  webhookAgeSeconds: ['webhook_backlog_oldest_age_seconds', 'Age of the oldest webhook event still to be delivered.'],
  webhookDueSeconds: [
    'webhook_due_oldest_seconds',
    'For how long the webhook event that is longest due has waited for its attempt.',
  ],
  billedUsd: ['billed_usd_total', 'USD billed to all projects since the beginning: the sum of their total_spent.'],
  expirableRuns: ['retention_backlog_runs', 'Runs whose results should have expired and have not; counted to 10,000.'],
};

type PoolFigure = 'workers' | 'backlog' | 'oldestSeconds';

const HELP_OF_POOLS: Record<PoolFigure, [name: string, help: string]> = {
  workers: ['pool_workers', 'Workers of the pool that have reported within the last 15 seconds.'],
  backlog: ['pool_backlog', 'Nodes of the pool that no worker has taken; of the default pool, tasks in its queue.'],
  oldestSeconds: ['pool_oldest_seconds', 'For how long the first of the backlog has been due.'],
};

interface Deps {
  readPools: ReadPools;
  db: Database;
  logger: Logger;
  resultRetentionDays: number;
}

/** Updates the metrics in the registry. While the database does not answer they are absent instead of outdated. */
export type RefreshFigures = () => Promise<void>;

export function createDatabaseMetrics(
  registry: Registry,
  { db, logger, resultRetentionDays, readPools }: Deps,
): RefreshFigures {
  const keys = Object.keys(HELP) as (keyof ServiceFigures)[];
  const metrics = keys.map((key) => ({ key, metric: toMetric(registry, ...HELP[key]) }));
  const show = (figures: ServiceFigures | undefined): void => {
    for (const { key, metric } of metrics) {
      metric.remove();
      if (figures !== undefined) metric.inc(figures[key]);
    }
  };
  const figures = Object.keys(HELP_OF_POOLS) as PoolFigure[];
  const poolMetrics = figures.map((figure) => {
    const [name, help] = HELP_OF_POOLS[figure];
    return { figure, metric: new Gauge({ name, help, labelNames: ['pool'], registers: [registry] }) };
  });
  const showPools = (pools: Awaited<ReturnType<ReadPools>>): void => {
    for (const { figure, metric } of poolMetrics) {
      metric.reset();
      for (const pool of pools) metric.set({ pool: pool.name }, pool[figure]);
    }
  };
  show(undefined);
  let freshUntil = 0;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    try {
      const [service, pools] = await Promise.all([readServiceFigures(db, resultRetentionDays), readPools()]);
      show(service);
      showPools(pools);
      freshUntil = performance.now() + FRESH_MS;
    } catch (error) {
      logger.debug({ err: error }, 'the figures for metrics could not be read');
      show(undefined);
      showPools([]);
    } finally {
      reading = undefined;
    }
  };

  return async () => {
    if (performance.now() < freshUntil) return;
    reading ??= read();
    const outcome = await Promise.race([reading, sleep(WAIT_MS, 'late', { ref: false })]);
    if (outcome !== 'late') return;
    show(undefined);
    showPools([]);
  };
}

/** The name of a metric that only grows ends in `_total`. */
function toMetric(registry: Registry, name: string, help: string): Counter | Gauge {
  const options = { name, help, registers: [registry] };
  return name.endsWith('_total') ? new Counter(options) : new Gauge(options);
}
