// Rounds of retention in the test's own process, on the stack's database.
import { createRetentionRound, type RoundOutcome } from '../../api/background/retention.js';
import { createMetrics, type Metrics } from '../../api/observability/metrics.js';
import { createLogger } from '../../telemetry/logger.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { queryDatabase } from './inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';

export interface RetentionBench {
  db: Database;
  metrics: Metrics;
  /** Runs a whole round. Waits while another process runs one. */
  round: () => Promise<void>;
  close: () => Promise<void>;
}

export function openRetention(stack: TestStack): RetentionBench {
  const db = createDatabase({
    url: stack.stack.database_url,
    poolMax: 4,
    applicationName: 'retention-test',
    onError: () => undefined,
  });
  const metrics = createMetrics();
  const logger = createLogger('test', 'silent');
  const round = createRetentionRound({ db, logger, metrics, config: { resultRetentionDays: 30 } });
  const done: RoundOutcome = 'done';
  return {
    db,
    metrics,
    async round() {
      await eventually(async () => (await round(new AbortController().signal)) === done, { timeoutMs: 60_000 });
    },
    close: () => db.destroy(),
  };
}

/** Moves the end of runs `days` days into the past. */
export async function endedDaysAgo(stack: TestStack, days: number, ...runIds: string[]): Promise<void> {
  const text = `UPDATE runs SET run_finished_at = now() - make_interval(hours => 24 * $1) WHERE id = ANY ($2::uuid[])`;
  await queryDatabase(stack, text, [days, runIds]);
}
