import { sql } from 'kysely';
import type { Db } from './client.js';

/**
 * Returns the time of PostgreSQL, in milliseconds since the epoch. The end of a wait is measured by this clock, because
 * the step that starts a wait and the step that ends it may run on hosts whose clocks differ.
 */
export async function readClock(db: Db): Promise<number> {
  const { rows } = await sql<{ nowMs: number }>`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`.execute(db);
  return rows[0]!.nowMs;
}
