// Deletes data whose retention has ended, in every API process; an advisory lock admits one batch at a time
// (docs/operate/operations.md, "Retention").
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { isStatementTimeout, withAdvisoryLock } from '../../db/core/advisory-lock.js';
import {
  deleteEndedWindows,
  deleteIdempotencyKeys,
  deleteOldStops,
  deleteSettledDeliveries,
  expireRuns,
  purgeRuns,
  expireAuditRecords,
  deleteGoneConversations,
  deleteGoneDrawings,
  deleteOldCaseRuns,
  deleteLeftDeltas,
  deleteLeftSecrets,
  deleteOldDrafts,
  deleteOldSignIns,
  type Batch,
} from '../../db/retention/retention-repository.js';
import { deleteOrphanedSnapshots } from '../../db/runs/snapshots-repository.js';
import type { Tables } from '../../db/core/tables.js';
import { startLoop, pause, type BackgroundLoop } from '../loops/background-loop.js';
import type { BackgroundDeps } from './deps.js';

const INTERVAL_MS = 300_000;
/** A round ends after this time, even if more data is due. */
export const ROUND_MS = 60_000;
/** The pause after an incomplete round: more data may be due, or another process held the lock. */
const SOON_MS = 5_000;
/** The pause between two batches lets other statements run. */
const BETWEEN_BATCHES_MS = 50;
/**
 * Rows of a table in one statement. Large contents take long to delete, so a statement that timed out is retried with
 * fewer.
 */
const BATCH_ROWS = 500;
const FEWER = 4;
/** Runs that a round looks at for each row that it may delete, because most runs are only read. */
const LOOKED_PER_ROW = 10;

type RetentionDeps = Pick<BackgroundDeps, 'db' | 'logger' | 'metrics'> & {
  config: Pick<BackgroundDeps['config'], 'resultRetentionDays'>;
};

/**
 * `busy`: another process held the lock. `unfinished`: the time of the round was over, or the process was stopping,
 * before all steps were done.
 */
export type RoundOutcome = 'done' | 'unfinished' | 'busy';

/**
 * Runs a round at once, then every five minutes, or five seconds after an incomplete round. `stop` resolves when the
 * current batch has ended; each of its statements takes five seconds at most.
 */
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
      // Nothing is lost by waiting, and the alert watches the time of the last success.
      rounds.inc({ outcome: 'failed' });
      deps.logger.warn({ err: error }, 'a round of retention failed; the next round tries again');
    }
    return INTERVAL_MS;
  });
}

type Step = (trx: Transaction<Tables>, rows: number) => Promise<Batch>;

/**
 * Every batch is its own transaction, and each one finds the due rows in the tables. A later round therefore deletes
 * the rows that a round, or a process that died during it, has left.
 */
export function createRetentionRound(
  deps: RetentionDeps,
  roundMs = ROUND_MS,
): (stopped: AbortSignal) => Promise<RoundOutcome> {
  const steps = createSteps(deps.config.resultRetentionDays);
  return async (stopped) => {
    const endAt = performance.now() + roundMs;
    const isOver = (): boolean => stopped.aborted || performance.now() > endAt;
    const errors: unknown[] = [];
    for (const step of steps) {
      try {
        const outcome = await repeat(deps, step, isOver, stopped);
        if (outcome !== 'done') return outcome;
      } catch (error) {
        // A failure in one table does not prevent cleaning the others.
        errors.push(error);
        deps.logger.warn({ err: error }, 'a step of retention failed; the next round tries again');
      }
    }
    if (errors.length > 0) throw new Error(`steps that failed: ${errors.length}`, { cause: errors[0] });
    return 'done';
  };
}

function createSteps(days: number): Step[] {
  let snapshotsAfter: Buffer | null = null;
  // Begins anywhere, so that processes that are restarted before the end of the table reach all runs, too.
  let runsAfter: string | null = randomUUID();
  return [
    (trx, rows) => expireRuns(trx, days, rows),
    purgeRuns,
    (trx, rows) => deleteSettledDeliveries(trx, days, rows),
    (trx, rows) => deleteOldCaseRuns(trx, days, rows),
    deleteIdempotencyKeys,
    deleteEndedWindows,
    deleteLeftDeltas,
    deleteOldStops,
    deleteOldSignIns,
    deleteOldDrafts,
    expireAuditRecords,
    deleteGoneDrawings,
    deleteGoneConversations,
    async (trx, rows) => {
      runsAfter = await deleteLeftSecrets(trx, runsAfter, LOOKED_PER_ROW * rows);
      return { expired: {}, hasMore: false };
    },
    // Graphs are checked one by one and orphans are rare, so a round checks one batch and successive rounds reach all
    // graphs.
    async (trx, rows) => {
      const { deleted, nextHash } = await deleteOrphanedSnapshots(trx, snapshotsAfter, rows);
      snapshotsAfter = nextHash;
      return { expired: { graph_snapshots: deleted }, hasMore: false };
    },
  ];
}

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
