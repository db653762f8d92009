// Wakes are signals to a run that one of its waits was answered. They are repeated until they are confirmed.
import { sql, type RawBuilder } from 'kysely';
import { keyColumns } from '../nodes/key-columns.js';
import type { Db } from '../core/client.js';
import type { WaitKey } from './wait-key.js';

/**
 * Claims answered waits whose signal is not confirmed, the least often tried first. Each is returned again after a
 * pause, which grows up to five minutes, so that an undeliverable signal does not delay the others.
 */
export async function claimUndeliveredWakes(db: Db, olderThanSeconds: number, limit: number): Promise<WaitKey[]> {
  const { rows } = await sql<WaitKey>`
    UPDATE waits SET signal_attempts = waits.signal_attempts + 1, next_signal_at = ${nextSignal(sql`due.signal_attempts`)}
    FROM (
      SELECT run_id, path, node_id, call, signal_attempts FROM waits
      WHERE signalled_at IS NULL AND answered_at < now() - make_interval(secs => ${olderThanSeconds})
        AND (next_signal_at IS NULL OR next_signal_at <= now())
      ORDER BY signal_attempts, answered_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE waits.run_id = due.run_id AND waits.path = due.path AND waits.node_id = due.node_id AND waits.call = due.call
    RETURNING waits.run_id AS "runId", waits.path, waits.node_id AS "nodeId", waits.call`.execute(db);
  return rows;
}

const FIRST_PAUSE_SECONDS = 3;
const LONGEST_PAUSE_SECONDS = 300;

/** The time of the next signal after `attempts` earlier ones. */
export function nextSignal(attempts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`now() + make_interval(secs =>
    least(${sql.lit(FIRST_PAUSE_SECONDS)} * 2 ^ least(${attempts}, 20), ${sql.lit(LONGEST_PAUSE_SECONDS)}))`;
}

export async function markWoken(db: Db, { call = 0, ...key }: WaitKey): Promise<void> {
  await db
    .updateTable('waits')
    .set({ signalled_at: sql`now()` })
    .where((row) => row.and({ ...keyColumns(key), call }))
    .execute();
}

/**
 * Schedules recent signals again after Temporal was restored to an earlier moment than this database. In Temporal, runs
 * may then wait for answers that came after that moment, even if their waits are closed here. A run that no longer
 * waits ignores the signal.
 */
export async function forgetWakes(db: Db, runTimeoutDays: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('waits')
    .set({ signalled_at: null, next_signal_at: null, signal_attempts: 0 })
    .where('answered_at', '>', sql<Date>`now() - make_interval(days => ${runTimeoutDays + 1})`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
