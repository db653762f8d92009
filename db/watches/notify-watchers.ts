import { sql, type RawBuilder } from 'kysely';

export const CHANGES_CHANNEL = 'run_changes';

/** Sent instead of a run's id when a queued run may start. */
export const QUEUE_MESSAGE = 'queue';

/**
 * An expression for statements that change what readers see of an open run: notifies the API processes that watch its
 * changes when the statement commits. For a run that nobody watches, which is nearly every run, it costs one lookup in a small index.
 * It avoids NOTIFY then, because commits with NOTIFY wait for each other across the whole database.
 */
export function notifyWatchers(runId: string | RawBuilder<string>): RawBuilder<unknown> {
  return notify(runId, sql`AND NOT ends_only`);
}

/** `notifyWatchers` for statements that end a run: also notifies the processes that only wait for its end. */
export function notifyOfEnd(runId: string): RawBuilder<unknown> {
  return notify(runId, sql``);
}

function notify(runId: string | RawBuilder<string>, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN EXISTS (SELECT FROM run_watches WHERE run_id = ${runId}::uuid AND until > now() ${condition})
    THEN pg_notify(${sql.lit(CHANGES_CHANNEL)}, ${runId}::text) END`;
}
