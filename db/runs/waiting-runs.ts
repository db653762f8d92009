// Reads the reason for which an open run waits (db/routines/run-waits.sql).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';

/** The reasons for which a run waits. A run with several shows the one that comes first here. */
export const WAITING_FOR = ['approval', 'human', 'connection', 'callback', 'time', 'child', 'worker'] as const;

export type WaitingFor = (typeof WAITING_FOR)[number];

interface Listed {
  id: string;
  status: StoredRunStatus;
}

/**
 * Adds to each run the reason for which it waits. It is null if the run has ended or one of its nodes is being
 * executed. Sends no statement if no run is open.
 */
export async function withWaits<Run extends Listed>(
  db: Db,
  runs: readonly Run[],
): Promise<(Run & { waiting_for: WaitingFor | null })[]> {
  const open = runs.flatMap(({ id, status }) => (status === 'In Progress' ? [id] : []));
  const reasons = new Map(open.length === 0 ? [] : await findReasons(db, open));
  return runs.map((run) => ({ ...run, waiting_for: reasons.get(run.id) ?? null }));
}

async function findReasons(db: Db, runIds: string[]): Promise<[string, WaitingFor | null][]> {
  const { rows } = await sql<{ id: string; reason: WaitingFor | null }>`
    SELECT id, run_waits_for(id) AS reason FROM unnest(${runIds}::uuid[]) AS run (id)`.execute(db);
  return rows.map(({ id, reason }) => [id, reason]);
}
