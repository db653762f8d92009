// Counts failed logins, and lets strangers to an account under attack wait. Writer: the API. Each function is one
// statement, so that nothing is locked between them. docs/operate/sign-in.md, "Guessing passwords".
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

const WINDOW_SECONDS = 60;
/** Who was told to wait and does not come within this time waits anew. */
const TURN_LASTS_SECONDS = 300;

export interface FailureCount {
  failures: number;
  /** Until the minute of the first of them is over; at least 1. */
  secondsLeft: number;
}

const secondsUntilEnd = sql<number>`greatest(1, ceil(extract(epoch FROM ends_at - now())))::integer`;

/** What the current minute has; undefined when it has nothing. */
export function readFailures(db: Db, key: Buffer): Promise<FailureCount | undefined> {
  return db
    .selectFrom('login_failures')
    .select(['failures', secondsUntilEnd.as('secondsLeft')])
    .where('key', '=', key)
    .where('ends_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
}

/**
 * Counts an attempt before it is made, so that concurrent ones cannot pass together; what succeeds is taken back. A
 * process that dies in between has counted it. A minute begins with the first attempt after the last one ended.
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

/** Takes one attempt back from each. */
export async function forgiveFailure(db: Db, keys: Buffer[]): Promise<void> {
  await db
    .updateTable('login_failures')
    .set((row) => ({ failures: row('failures', '-', 1) }))
    .where('key', 'in', keys)
    .where('ends_at', '>', sql<Date>`now()`)
    .where('failures', '>', 0)
    .execute();
}

/** 0: it is this one's turn, which is thereby used up. Else the seconds to wait for it, which begin with the first call. */
export async function takeTurn(db: Db, key: Buffer, waitSeconds: number): Promise<number> {
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
