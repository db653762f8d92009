// Finds the user of an API key or a session and counts the requests of this minute, in the only statement that this costs.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { Value } from '../core/statement.js';
import type { KeyScope } from '../core/tables.js';
import { isLive } from '../sessions/sessions-repository.js';
import { hashKey } from './keys-repository.js';

export const WINDOW_SECONDS = 60;

/** The requests of a window, which belong to a key, or to all sessions of a user. */
export interface CountedWindow {
  userId: number;
  /** Requests in the current window, the last of these included. */
  requests: number;
  /** When the window ends: Unix time, whole seconds, rounded up. */
  resetAtSeconds: number;
  /** The same from now on, at least 1. */
  resetInSeconds: number;
}

export interface CountedKey extends CountedWindow {
  keyId: number;
  /** The only project that the key reaches; null: all of its user. */
  projectId: number | null;
  scope: KeyScope;
  apiAccess: boolean;
  /** Requests a minute; null means DEFAULT_RATE_LIMIT. */
  rateLimit: number | null;
}

/**
 * Whom a session token names. `session`: of a session of ours, with which it ends. `user` and `email`: of another service.
 */
export type TokenSubject =
  | { by: 'session'; userId: number; sessionId: string }
  | { by: 'user'; userId: number }
  | { by: 'email'; email: string };

/**
 * Looks the key up and counts `count` requests of it; undefined, and nothing counted, when there is no such key, it has
 * expired, or its user is not active. A window begins with the first request after the last one ended and lasts a minute.
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
  return sql`
    holder AS (
      SELECT api_keys.id, api_keys.rate_limit, api_keys.project_id, api_keys.scope, users.id AS user_id, users.api_access
      FROM api_keys JOIN users ON users.id = api_keys.user_id AND users.is_active
      WHERE api_keys.key_hash = ${keyHash} AND (api_keys.expires_at IS NULL OR api_keys.expires_at > now())
    ), ${before} ${countedIn(KEYS, count)}, counted_key AS (
      SELECT id AS "keyId", user_id AS "userId", project_id AS "projectId", scope, api_access AS "apiAccess",
        rate_limit AS "rateLimit", ${windowColumns}
      FROM holder, counted
    )`;
}

/**
 * Counts `count` requests of the user whom a session token names; undefined, and nothing counted, when there is no such active
 * user, or the session is over.
 */
export async function countSessionRequests(
  db: Db,
  subject: TokenSubject,
  count: number,
): Promise<CountedWindow | undefined> {
  const { rows } = await sql<CountedWindow>`${named(`count_requests_by_${subject.by}`)}
    WITH holder AS (SELECT users.id ${holderOf(subject)} AND users.is_active), ${countedIn(SESSIONS, count)}
    SELECT id AS "userId", ${windowColumns} FROM holder, counted`.execute(db);
  return rows[0];
}

function holderOf(subject: TokenSubject): RawBuilder<unknown> {
  if (subject.by === 'user') return sql`FROM users WHERE users.id = ${subject.userId}`;
  if (subject.by === 'email') return sql`FROM users WHERE lower(users.email) = lower(${subject.email})`;
  return sql`FROM sessions JOIN users ON users.id = sessions.user_id
    WHERE sessions.id = ${subject.sessionId} AND users.id = ${subject.userId} AND ${isLive}`;
}

interface Counter {
  by: 'key' | 'session';
  table: RawBuilder<unknown>;
  owner: RawBuilder<unknown>;
}

const KEYS: Counter = { by: 'key', table: sql.table('rate_limits'), owner: sql.ref('key_id') };
const SESSIONS: Counter = { by: 'session', table: sql.table('session_rate_limits'), owner: sql.ref('user_id') };

/** The name of a statement that is prepared (preparing-client.ts): one for each of its texts. */
function named(name: string): RawBuilder<unknown> {
  return sql.raw(`/* ${name} */`);
}

const windowColumns = sql`requests, ceil(extract(epoch FROM window_ends_at))::bigint AS "resetAtSeconds",
  greatest(1, ceil(extract(epoch FROM window_ends_at - now())))::integer AS "resetInSeconds"`;

/** Counts for the `id` of `holder`. */
function countedIn({ table, owner }: Counter, count: Value<number>): RawBuilder<unknown> {
  const windowEnd = sql`now() + make_interval(secs => ${WINDOW_SECONDS})`;
  return sql`counted AS (
      INSERT INTO ${table} AS stored (${owner}, window_ends_at, requests)
      SELECT id, ${windowEnd}, ${count}::integer FROM holder
      ON CONFLICT (${owner}) DO UPDATE SET
        requests = CASE WHEN stored.window_ends_at <= now() THEN 0 ELSE stored.requests END + excluded.requests,
        window_ends_at = CASE WHEN stored.window_ends_at <= now() THEN ${windowEnd} ELSE stored.window_ends_at END
      RETURNING requests, window_ends_at
    )`;
}

/** Requests that are taken back from the window in which they were counted; a window that is over does not matter. */
export interface Uncounted {
  count: number;
  /** That window's end. */
  resetAtSeconds: number;
}

/** Returns the key's requests of the window then; undefined when it is over. */
export function uncountRequests(db: Db, apiKey: string, uncounted: Uncounted): Promise<number | undefined> {
  return uncountIn(db, KEYS, sql`(SELECT id FROM api_keys WHERE key_hash = ${hashKey(apiKey)})`, uncounted);
}

/** Takes back requests of the user's sessions, as `uncountRequests` does for a key. */
export function uncountSessionRequests(db: Db, userId: number, uncounted: Uncounted): Promise<number | undefined> {
  return uncountIn(db, SESSIONS, sql`${userId}`, uncounted);
}

async function uncountIn(
  db: Db,
  { by, table, owner }: Counter,
  id: RawBuilder<unknown>,
  { count, resetAtSeconds }: Uncounted,
): Promise<number | undefined> {
  const { rows } = await sql<{ requests: number }>`${named(`uncount_${by}_requests`)}
    UPDATE ${table} SET requests = greatest(0, requests - ${count}::integer)
    WHERE ${owner} = ${id} AND ceil(extract(epoch FROM window_ends_at))::bigint = ${resetAtSeconds}::bigint
    RETURNING requests`.execute(db);
  return rows[0]?.requests;
}
