// Counts failed logins, and delays strangers while an account is attacked: people who sign in from networks that are
// unknown to the account. Writer: the API. Each function is one statement, so no lock outlives it
// (docs/operate/sign-in.md, "Guessing passwords").
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { anyOf } from '../core/statement.js';

const WINDOW_SECONDS = 60;
/** A stranger who has waited must come back within this time, or waits again. */
const TURN_LASTS_SECONDS = 300;

export interface FailureCount {
  failures: number;
  /** Seconds until the window ends, at least 1. */
  secondsLeft: number;
}

const secondsUntilEnd = sql<number>`greatest(1, ceil(extract(epoch FROM ends_at - now())))::integer`;

/** Returns the count of the current window; undefined if there is none. */
export function readFailures(db: Db, key: Buffer): Promise<FailureCount | undefined> {
  return db
    .selectFrom('login_failures')
    .select(['failures', secondsUntilEnd.as('secondsLeft')])
    .where('key', '=', key)
    .where('ends_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
}

/**
 * Counts an attempt before it is made, so that concurrent attempts cannot pass together; `forgiveFailure` undoes the
 * count after a success. If the process dies in between, the attempt stays counted. A window starts with the first
 * attempt after the previous window.
 */
export async function countFailure(db: Db, key: Buffer): Promise<FailureCount> {
  const windowEnd = sql`now() + make_interval(secs => ${WINDOW_SECONDS})`;
  const { rows } = await sql<FailureCount>`
    INSERT INTO login_failures AS stored (key, failures, ends_at) VALUES (${key}, 1, ${windowEnd})
    ON CONFLICT (key) DO UPDATE SET
      failures = CASE WHEN stored.ends_at <= now() THEN 1 ELSE stored.failures + 1 END,
      ends_at = CASE WHEN stored.ends_at <= now() THEN excluded.ends_at ELSE stored.ends_at END
    RETURNING failures, ${secondsUntilEnd} AS "secondsLeft"`.execute(db);
  return rows[0]!;
}

/** Subtracts one attempt from each count. */
export async function forgiveFailure(db: Db, keys: Buffer[]): Promise<void> {
  await db
    .updateTable('login_failures')
    .set((row) => ({ failures: row('failures', '-', 1) }))
    .where('key', '=', anyOf(keys))
    .where('ends_at', '>', sql<Date>`now()`)
    .where('failures', '>', 0)
    .execute();
}

/**
 * Returns 0 if the stranger has waited long enough, which uses the wait up. Otherwise returns the seconds left; the
 * first call starts the wait.
 */
export async function reserveAttempt(db: Db, key: Buffer, waitSeconds: number): Promise<number> {
  const ready = sql`now() + make_interval(secs => ${waitSeconds})`;
  const end = sql`now() + make_interval(secs => ${waitSeconds + TURN_LASTS_SECONDS})`;
  const { rows } = await sql<{ seconds: number }>`
    WITH turn AS (
      DELETE FROM login_waits WHERE key = ${key} AND ready_at <= now() AND ends_at > now() RETURNING 0 AS seconds
    ), wait AS (
      INSERT INTO login_waits AS stored (key, ready_at, ends_at)
      SELECT ${key}::bytea, ${ready}, ${end} WHERE NOT EXISTS (SELECT FROM turn)
      ON CONFLICT (key) DO UPDATE SET
        ready_at = CASE WHEN stored.ends_at <= now() THEN excluded.ready_at ELSE stored.ready_at END,
        ends_at = CASE WHEN stored.ends_at <= now() THEN excluded.ends_at ELSE stored.ends_at END
      RETURNING greatest(1, ceil(extract(epoch FROM ready_at - now())))::integer AS seconds
    )
    SELECT seconds FROM turn UNION ALL SELECT seconds FROM wait`.execute(db);
  return rows[0]!.seconds;
}
