// Deletes what has been kept long enough. In every API process; an advisory lock lets one at a time do a batch.
// docs/operate/operations.md, "Retention".
import type { Transaction } from 'kysely';
import { isStatementTimeout, withAdvisoryLock } from '../../db/core/advisory-lock.js';
import {
  deleteEndedWindows,
  deleteIdempotencyKeys,
  deleteSettledDeliveries,
  expireRuns,
  purgeRuns,
  type Batch,
} from '../../db/retention/retention-repository.js';
import { deleteOrphanedSnapshots } from '../../db/runs/snapshots-repository.js';
import type { Tables } from '../../db/core/tables.js';
import { startLoop, type BackgroundLoop } from './background-loop.js';
import type { AppDeps } from '../deps.js';
import { pause } from './pause.js';

const INTERVAL_MS = 300_000;
/** A round ends after so long, even if there is more to do. */
const ROUND_MS = 60_000;
/** After a round that was not done, because there was too much or another process was at it. */
const SOON_MS = 5_000;
/** Other work on the database gets its turn between two batches. */
const BETWEEN_BATCHES_MS = 50;
/** Rows of a table in one statement. Large contents take long to delete: fewer after a statement timed out. */
const BATCH_ROWS = 500;
const FEWER = 4;

export type RetentionDeps = Pick<AppDeps, 'db' | 'logger' | 'metrics'> & {
  config: Pick<AppDeps['config'], 'resultRetentionDays'>;
};

/** `busy`: another process was at it. `unfinished`: there was more to do than a round may take. */
export type RoundOutcome = 'done' | 'unfinished' | 'busy';

/** A round at once, then every five minutes. Its `stop` resolves when the batch under way is over: within five seconds. */
export function startRetention(deps: RetentionDeps): BackgroundLoop {
  const { rounds, lastSuccess } = deps.metrics.retention;
  const round = createRetentionRound(deps);
  return startLoop(async (stopped) => {
    try {
      const outcome = await round(stopped);
      rounds.inc({ outcome });
      if (outcome !== 'done') return SOON_MS;
      lastSuccess.setToCurrentTime();
    } catch (error) {
      // Nothing is lost by waiting; the alert is on the time of the last success.
      rounds.inc({ outcome: 'failed' });
      deps.logger.warn({ err: error }, 'a round of retention failed; the next one goes on');
    }
    return INTERVAL_MS;
  });
}

type Step = (trx: Transaction<Tables>, rows: number) => Promise<Batch>;

/**
 * One round after the other: what a round, or the process that died in it, has left, the next one finds, for every
 * batch is a transaction of its own and what is left to do is read from the tables.
 */
export function createRetentionRound(deps: RetentionDeps): (stopped: AbortSignal) => Promise<RoundOutcome> {
  const steps = createSteps(deps.config.resultRetentionDays);
  return async (stopped) => {
    const endAt = performance.now() + ROUND_MS;
    const errors: unknown[] = [];
    for (const step of steps) {
      try {
        const outcome = await repeat(deps, step, () => stopped.aborted || performance.now() > endAt, stopped);
        if (outcome !== 'done') return outcome;
      } catch (error) {
        // What one table refuses does not keep the others from being cleaned.
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return 'done';
  };
}

function createSteps(days: number): Step[] {
  let snapshotsAfter: Buffer | null = null;
  return [
    (trx, rows) => expireRuns(trx, days, rows),
    purgeRuns,
    (trx, rows) => deleteSettledDeliveries(trx, days, rows),
    deleteIdempotencyKeys,
    deleteEndedWindows,
    // Graphs are looked at one by one, orphans are rare: a batch a round, so that all of them have their turn.
    async (trx, rows) => {
      const { deleted, nextHash } = await deleteOrphanedSnapshots(trx, snapshotsAfter, rows);
      snapshotsAfter = nextHash;
      return { expired: { graph_snapshots: deleted }, hasMore: false };
    },
  ];
}

/** Batch after batch of one kind, until there is no more. */
async function repeat(
  deps: RetentionDeps,
  step: Step,
  isOver: () => boolean,
  stopped: AbortSignal,
): Promise<RoundOutcome> {
  let rows = BATCH_ROWS;
  while (!isOver()) {
    let batch: Batch | undefined;
    try {
      batch = await withAdvisoryLock(deps.db, 'retention', (trx) => step(trx, rows));
    } catch (error) {
      if (!isStatementTimeout(error) || rows === 1) throw error;
      rows = Math.max(1, Math.floor(rows / FEWER));
      continue;
    }
    if (batch === undefined) return 'busy';
    for (const [table, count] of Object.entries(batch.expired)) deps.metrics.retention.expired.inc({ table }, count);
    if (!batch.hasMore) return 'done';
    await pause(BETWEEN_BATCHES_MS, stopped);
  }
  return 'unfinished';
}
