// Health checks for operators (docs/operate/operations.md, "Processes").
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { startHealthServer } from '../../telemetry/health-server.js';
import { pendingMigrations } from '../../db/schema/migrate.js';
import type { ObservabilityDeps } from './deps.js';
import { detailSchema } from '../http/answer-schemas.js';
import { notFound } from '../http/errors.js';
import { routesOf, type Route } from '../http/route.js';
import { pingTemporal } from '../runs/temporal-calls.js';

const defineRoute = routesOf<ObservabilityDeps>();

const CHECK_MS = 1_000;
const RETRY_AFTER = '5';

const alive = defineRoute({
  method: 'GET',
  path: '/healthz',
  summary: 'Answers while the process is alive.',
  auth: 'open',
  quiet: true,
  responses: { 200: z.object({ status: z.literal('ok') }) },
  handler: () => ({ status: 200, body: { status: 'ok' } }),
});

const readySchema = z.object({
  status: z.enum(['ready', 'not ready']),
  database: z.boolean().optional(),
  migrations: z.boolean().optional(),
  temporal: z.boolean().optional(),
  files: z.boolean().optional(),
});

const ready = defineRoute({
  method: 'GET',
  path: '/readyz',
  summary:
    'Answers 200 while the database and Temporal answer, no migration is missing and the store of files has answered once, else 503; names each of them, unless METRICS_PORT is set.',
  auth: 'open',
  quiet: true,
  responses: { 200: readySchema, 503: readySchema },
  async handler({ deps }) {
    const { isReady, body } = await checkReadiness(deps);
    const { status } = body;
    const answer = { body: deps.config.hasMetricsPort ? { status } : body };
    return isReady ? { status: 200, ...answer } : { status: 503, headers: { 'Retry-After': RETRY_AFTER }, ...answer };
  },
});

const metrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  summary:
    'Returns Prometheus metrics of this process and figures of the whole service; not here if METRICS_PORT is set.',
  auth: 'open',
  quiet: true,
  responses: { 200: z.string(), 404: detailSchema },
  mediaTypes: { 200: ['text/plain'] },
  async handler({ deps }) {
    if (deps.config.hasMetricsPort) throw notFound();
    await deps.refreshFigures();
    const { registry } = deps.metrics;
    return { status: 200, body: await registry.metrics(), headers: { 'Content-Type': registry.contentType } };
  },
});

export const healthRoutes: Route<ObservabilityDeps>[] = [alive, ready, metrics];

/** Serves metrics, liveness, and readiness with its details, on a separate port: METRICS_PORT. */
export function startMetricsServer(deps: ObservabilityDeps, { host, metricsPort }: MetricsAddress): Promise<Server> {
  return startHealthServer(host, metricsPort, {
    registry: deps.metrics.registry,
    async moreMetrics() {
      await deps.refreshFigures();
      return '';
    },
    readiness: () => checkReadiness(deps),
  });
}

interface MetricsAddress {
  host: string;
  metricsPort: number;
}

async function checkReadiness(deps: ObservabilityDeps) {
  const [database, migrations, temporal, files] = await Promise.all([
    holds(sql`SELECT 1`.execute(deps.db)),
    holds(checkMigrations(deps)),
    holds(pingTemporal(deps.temporal, CHECK_MS)),
    holds(deps.files.checkStore()),
  ]);
  const isReady = database && migrations && temporal && files;
  return { isReady, body: { status: isReady ? 'ready' : 'not ready', database, migrations, temporal, files } as const };
}

async function checkMigrations(deps: ObservabilityDeps): Promise<void> {
  if ((await pendingMigrations(deps.db)).length > 0) throw new Error('migrations are missing');
}

/** True if the check succeeds within `CHECK_MS`. The reason of a failure is neither answered nor logged here. */
function holds(check: Promise<unknown>): Promise<boolean> {
  const outcome = check.then(
    () => true,
    () => false,
  );
  return Promise.race([outcome, sleep(CHECK_MS, false, { ref: false })]);
}
