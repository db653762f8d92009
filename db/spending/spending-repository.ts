// Reads the reservations of a project's calls, and the calls that spending limits have stopped, for people.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { SpendingLimitKind } from '../core/tables.js';

export interface SpendingStop {
  /** A day in UTC, `YYYY-MM-DD`. */
  day: string;
  limited: SpendingLimitKind;
  source: 'run' | 'chat';
  calls: number;
  lastRunId: string | null;
  lastAt: Date;
}

export interface Reserved {
  /** Exact decimal. */
  usd: string;
  calls: number;
}

/**
 * Returns the sum and the number of a project's reservations: those of calls in flight, and those of calls that are in
 * no transaction yet and were cut off, or were answered in the current period of the project's limit.
 */
export async function readReserved(db: Db, projectId: number): Promise<Reserved> {
  const { rows } = await sql<Reserved>`
    SELECT coalesce(sum(reserved_usd), 0) AS usd, count(*) AS calls FROM (
      SELECT reserved_usd FROM provider_calls AS call JOIN runs ON runs.id = call.run_id AND runs.status = 'In Progress'
      WHERE call.project_id = ${projectId} AND reserved_usd IS NOT NULL
        AND (call.state <> 'applied' OR call.replied_at >= (SELECT period_begin(${projectId}::integer)))
      UNION ALL
      SELECT reserved_usd FROM chat_calls WHERE project_id = ${projectId} AND reserved_usd IS NOT NULL
    ) AS call`.execute(db);
  return rows[0]!;
}

/** Returns the stops of the last 30 days, newest first. */
export function listStops(db: Db, projectId: number): Promise<SpendingStop[]> {
  return db
    .selectFrom('spending_stops')
    .select([sql<string>`to_char(day, 'YYYY-MM-DD')`.as('day'), 'limited', 'source', 'calls'])
    .select(['last_run_id as lastRunId', 'last_at as lastAt'])
    .where('project_id', '=', projectId)
    .where('day', '>', sql<Date>`period_start('day', clock_timestamp()) - 30`)
    .orderBy('last_at', 'desc')
    .orderBy('limited')
    .orderBy('source')
    .execute();
}
