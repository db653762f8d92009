// The workers that live, according to their own reports. All times are those of the database's clock.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';

export interface LivingWorker {
  id: string;
  pool: string;
  /** Null for an unversioned worker. */
  buildId: string | null;
}

/** How often a worker reports that it lives. */
export const REPORT_EVERY_MS = 5_000;
/** A worker is taken for living for this long after its last report. */
const LIVES_FOR_S = 15;
const KEEP_DAYS = 7;

/**
 * Stores that the worker lives. It counts as living (`isLiving`) until `LIVES_FOR_S` after its last report, or until it
 * begins to stop.
 */
export async function reportWorker(db: Db, { id, pool, buildId }: LivingWorker): Promise<void> {
  await sql`
    INSERT INTO workers (id, pool, build_id) VALUES (${id}, ${pool}, ${buildId})
    ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()`.execute(db);
}

/** Stores that the worker has begun to stop; it is not living from then on. */
export async function stopWorker(db: Db, id: string): Promise<void> {
  await sql`
    UPDATE workers SET stopped_at = coalesce(stopped_at, clock_timestamp()), seen_at = clock_timestamp()
    WHERE id = ${id}`.execute(db);
}

export async function deleteOldWorkers(db: Db): Promise<void> {
  await sql`DELETE FROM workers WHERE seen_at < now() - make_interval(days => ${KEEP_DAYS})`.execute(db);
}

/**
 * Returns an SQL condition on the row of `workers` with this alias. The worker is living if it has reported within
 * `LIVES_FOR_S` and has not begun to stop; with `seconds`, it is enough that it was living that long ago.
 */
export function isLiving(worker: RawBuilder<unknown>, seconds = 0): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${worker}.stopped_at, ${worker}.seen_at + make_interval(secs => ${LIVES_FOR_S}))
    > now() - make_interval(secs => ${seconds})`;
}

/**
 * Returns an SQL condition on the row of `workers` with this alias: the worker's process counts as ended, because it
 * began to stop at least `LIVES_FOR_S` ago, which is longer than stopping takes, or has not reported for that long.
 */
export function isGone(worker: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${worker}.stopped_at, ${worker}.seen_at)
    <= now() - make_interval(secs => ${LIVES_FOR_S})`;
}

/** True if a worker of the pool (and of the build, if not null) lives now or has lived within the last `seconds`. */
export function isServed(pool: RawBuilder<unknown>, build: RawBuilder<unknown>, seconds = 0): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    SELECT FROM workers AS serving WHERE serving.pool = ${pool}
      AND (${build} IS NULL OR serving.build_id = ${build}) AND ${isLiving(sql`serving`, seconds)})`;
}

/** Returns the names among `pools` that have no living worker. */
export async function findUnattended(db: Db, pools: readonly string[]): Promise<Set<string>> {
  if (pools.length === 0) return new Set();
  const { rows } = await sql<{ pool: string }>`
    SELECT pool FROM unnest(${pools}::text[]) AS named (pool)
    WHERE NOT ${isServed(sql`named.pool`, sql`NULL::text`)}`.execute(db);
  return new Set(rows.map(({ pool }) => pool));
}
