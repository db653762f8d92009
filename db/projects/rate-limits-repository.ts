// Who an API key speaks for, and its requests in this minute, in one statement: the only one that a key costs.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { Value } from '../core/statement.js';
import { hashKey } from './keys-repository.js';

export const WINDOW_SECONDS = 60;

export interface CountedKey {
  keyId: number;
  userId: number;
  /** The only project that the key reaches; null: all of its user. */
  projectId: number | null;
  apiAccess: boolean;
  /** Requests a minute; null means DEFAULT_RATE_LIMIT. */
  rateLimit: number | null;
  /** Requests in the current window, the last of these included. */
  requests: number;
  /** When the window ends: Unix time, whole seconds, rounded up. */
  resetAtSeconds: number;
  /** The same from now on, at least 1. */
  resetInSeconds: number;
}

/**
 * Looks the key up and counts `count` requests of it; undefined, and nothing counted, when there is no such key or it
 * has expired. A window begins with the first request after the last one ended and lasts a minute.
 *
 * Exact over any number of processes: the row's lock puts the requests of a key in one order, and only the database's
 * clock is asked. `now()` is the same in the whole statement, so that count and window are judged alike. A process that
 * dies here has counted its request or not; nothing is left locked.
 */
export async function countKeyRequests(db: Db, apiKey: string, count: number): Promise<CountedKey | undefined> {
  const { rows } = await sql<CountedKey>`/* count_key_requests */
    WITH ${countedKey(hashKey(apiKey), count)} SELECT * FROM counted_key`.execute(db);
  return rows[0];
}

/**
 * The beginning of a statement's WITH list. `counted_key` has the columns of `CountedKey`, and at most one row. `before`: what
 * `count` depends on, with a comma behind it; it may refer to `holder` (`user_id`, `api_access`).
 */
export function countedKey(
  keyHash: Value<Buffer>,
  count: Value<number>,
  before: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const windowEnd = sql`now() + make_interval(secs => ${WINDOW_SECONDS})`;
  return sql`
    holder AS (
      SELECT api_keys.id, api_keys.rate_limit, api_keys.project_id, users.id AS user_id, users.api_access
      FROM api_keys JOIN users ON users.id = api_keys.user_id
      WHERE api_keys.key_hash = ${keyHash} AND (api_keys.expires_at IS NULL OR api_keys.expires_at > now())
    ), ${before} counted AS (
      INSERT INTO rate_limits AS stored (key_id, window_ends_at, requests)
      SELECT id, ${windowEnd}, ${count}::integer FROM holder
      ON CONFLICT (key_id) DO UPDATE SET
        requests = CASE WHEN stored.window_ends_at <= now() THEN 0 ELSE stored.requests END + excluded.requests,
        window_ends_at = CASE WHEN stored.window_ends_at <= now() THEN ${windowEnd} ELSE stored.window_ends_at END
      RETURNING requests, window_ends_at
    ), counted_key AS (
      SELECT id AS "keyId", user_id AS "userId", project_id AS "projectId", api_access AS "apiAccess", rate_limit AS "rateLimit", requests,
        ceil(extract(epoch FROM window_ends_at))::bigint AS "resetAtSeconds",
        greatest(1, ceil(extract(epoch FROM window_ends_at - now())))::integer AS "resetInSeconds"
      FROM holder, counted
    )`;
}

/**
 * Takes `count` requests out of the window that they were counted in, `resetAtSeconds` being that window's end; what is left of a
 * window that is over does not matter. Returns the key's requests of the window then; undefined when it is over.
 */
export async function uncountRequests(
  db: Db,
  apiKey: string,
  { count, resetAtSeconds }: { count: number; resetAtSeconds: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ requests: number }>`/* uncount_requests */
    UPDATE rate_limits SET requests = greatest(0, requests - ${count}::integer)
    WHERE key_id = (SELECT id FROM api_keys WHERE key_hash = ${hashKey(apiKey)})
      AND ceil(extract(epoch FROM window_ends_at))::bigint = ${resetAtSeconds}::bigint
    RETURNING requests`.execute(db);
  return rows[0]?.requests;
}
