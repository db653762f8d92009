import { sql, type RawBuilder } from 'kysely';

export const CHANGES_CHANNEL = 'run_changes';

/** The channel tells this in place of a run's id when the turn of a queued run has come (migration 0020). */
export const TURN_MESSAGE = 'turn';

/**
 * An expression for a statement that changes what readers see of a run: the API processes that watch the run are told once
 * the statement is committed. For the other runs, which are nearly all, it is one look into a small index, and nothing of
 * NOTIFY, whose commits wait for each other in the whole database.
 */
export function tellWatchers(runId: string | RawBuilder<string>): RawBuilder<unknown> {
  return sql`CASE WHEN EXISTS (SELECT FROM run_watches WHERE run_id = ${runId}::uuid AND until > now())
    THEN pg_notify(${sql.lit(CHANGES_CHANNEL)}, ${runId}::text) END`;
}
