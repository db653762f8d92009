// Wakes: the signals that tell runs that what a node of theirs waits for has come. They are sent until they are confirmed.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { WaitKey } from './wait-key.js';

/** Waits that were answered and whose signal is not known to have arrived. */
export async function findUndeliveredWakes(db: Db, olderThanSeconds: number, limit: number): Promise<WaitKey[]> {
  const { rows } = await sql<WaitKey>`
    SELECT run_id AS "runId", path, node_id AS "nodeId", call FROM waits
    WHERE signalled_at IS NULL AND answered_at < now() - make_interval(secs => ${olderThanSeconds})
    ORDER BY answered_at LIMIT ${limit}`.execute(db);
  return rows;
}

export async function markWoken(db: Db, { runId, path, nodeId, call = 0 }: WaitKey): Promise<void> {
  await sql`
    UPDATE waits SET signalled_at = now()
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND call = ${call}`.execute(db);
}

/**
 * After Temporal was restored to an earlier moment than this database: its runs may wait for what came after that moment,
 * also where the wait was closed since. A run that no longer waits ignores the signal; a run lives for 30 days at most.
 */
export async function forgetWakes(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE waits SET signalled_at = NULL WHERE answered_at > now() - interval '31 days'`.execute(db);
  return Number(numAffectedRows ?? 0);
}
