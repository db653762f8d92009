import { sql, type RawBuilder } from 'kysely';

export const CHANGES_CHANNEL = 'run_changes';

/** Sent instead of a run's id when a queued run may start. */
export const QUEUE_MESSAGE = 'queue';

/**
 * Returns an expression for statements that change the visible state of an open run. It notifies the API processes that
 * watch the run's changes when the statement commits. Nearly every run is unwatched, and then it costs only one lookup
 * in a small index. It avoids NOTIFY then, because commits with NOTIFY wait for each other across the whole database.
 */
export function notifyWatchers(runId: string | RawBuilder<string>): RawBuilder<unknown> {
  return notify(runId, sql`AND NOT ends_only`);
}

/** Like `notifyWatchers`, for statements that end a run: it also notifies the processes that only wait for the end. */
export function notifyOfEnd(runId: string): RawBuilder<unknown> {
  return notify(runId, sql``);
}

function notify(runId: string | RawBuilder<string>, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN EXISTS (SELECT FROM run_watches WHERE run_id = ${runId}::uuid AND until > now() ${condition})
    THEN pg_notify(${sql.lit(CHANGES_CHANNEL)}, ${runId}::text) END`;
}
