// Finds the user of an API key or session token, and counts the requests within a window of a minute.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { KeyScope } from '../core/tables.js';
import { isLive } from '../sessions/sessions-repository.js';
import { hashKey } from './keys-repository.js';

export const WINDOW_SECONDS = 60;

/** The request window of a key, or of all session tokens of a user. */
export interface CountedWindow {
  userId: number;
  /** Requests in the window, including the counted ones. */
  requests: number;
  /** The end of the window as a Unix time in whole seconds, rounded up. */
  resetAtSeconds: number;
  /** Seconds until the end of the window, at least 1. */
  resetInSeconds: number;
}

export interface CountedKey extends CountedWindow {
  keyId: number;
  /** The only project that the key reaches; null for all projects of its user. */
  projectId: number | null;
  scope: KeyScope;
  apiAccess: boolean;
  /** Requests per minute; null means DEFAULT_RATE_LIMIT. */
  rateLimit: number | null;
}

/**
 * The user that a token names. `session`: the token of a session of this service. `user`: a token of another service or
 * of the assistant in the editor. `email`: a token of another service.
 */
export type TokenSubject =
  | { by: 'session'; userId: number; sessionId: string }
  | { by: 'user'; userId: number }
  | { by: 'email'; email: string };

/**
 * Finds the key and counts `count` of its requests; writes nothing if `count` is 0. Returns undefined, and counts
 * nothing, if there is no such key, it has expired, or its user is not active. A window lasts a minute. It starts with
 * the first request after the previous window.
 *
 * The count is exact over any number of processes: the row lock serializes the requests of a key, and only the
 * database's clock is used. `now()` is the same in the whole statement, so count and window are consistent. A process
 * that dies here leaves no lock, and either all of the requests were counted or none.
 */
export async function countKeyRequests(db: Db, apiKey: string, count: number): Promise<CountedKey | undefined> {
  const { rows } = await sql<CountedKey>`
    WITH holder AS (
      SELECT api_keys.id, api_keys.rate_limit, api_keys.project_id, api_keys.scope, users.id AS user_id, users.api_access
      FROM api_keys JOIN users ON users.id = api_keys.user_id AND users.is_active
      WHERE api_keys.key_hash = ${hashKey(apiKey)} AND (api_keys.expires_at IS NULL OR api_keys.expires_at > now())
    ), counted AS (${windowIn(KEYS, count)})
    SELECT id AS "keyId", user_id AS "userId", project_id AS "projectId", scope, api_access AS "apiAccess",
      rate_limit AS "rateLimit", ${windowColumns}
    FROM holder, counted`.execute(db);
  return rows[0];
}

/**
 * Counts `count` requests of the user that a session token names, like `countKeyRequests`. Returns undefined, and
 * counts nothing, if there is no such active user, or the session has ended.
 */
export async function countSessionRequests(
  db: Db,
  subject: TokenSubject,
  count: number,
): Promise<CountedWindow | undefined> {
  const { rows } = await sql<CountedWindow>`
    WITH holder AS (SELECT users.id ${holderOf(subject)} AND users.is_active), counted AS (${windowIn(SESSIONS, count)})
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
  table: 'rate_limits' | 'session_rate_limits';
  owner: 'key_id' | 'user_id';
}

const KEYS: Counter = { table: 'rate_limits', owner: 'key_id' };
const SESSIONS: Counter = { table: 'session_rate_limits', owner: 'user_id' };

const windowColumns = sql`requests, ceil(extract(epoch FROM window_ends_at))::bigint AS "resetAtSeconds",
  greatest(1, ceil(extract(epoch FROM window_ends_at - now())))::integer AS "resetInSeconds"`;

const nextWindowEnd = sql`now() + make_interval(secs => ${sql.lit(WINDOW_SECONDS)})`;

/**
 * A query that adds `count` requests to the window of `holder.id` and returns the window. If no window is open, a new
 * one starts now.
 */
function windowIn({ table, owner }: Counter, count: number): RawBuilder<unknown> {
  if (count === 0) {
    return sql`
      SELECT coalesce(stored.requests, 0) AS requests, coalesce(stored.window_ends_at, ${nextWindowEnd}) AS window_ends_at
      FROM holder LEFT JOIN ${sql.table(table)} AS stored ON stored.${sql.ref(owner)} = holder.id AND stored.window_ends_at > now()`;
  }
  return sql`
    INSERT INTO ${sql.table(table)} AS stored (${sql.ref(owner)}, window_ends_at, requests)
    SELECT id, ${nextWindowEnd}, ${count}::integer FROM holder
    ON CONFLICT (${sql.ref(owner)}) DO UPDATE SET
      requests = CASE WHEN stored.window_ends_at <= now() THEN 0 ELSE stored.requests END + excluded.requests,
      window_ends_at = CASE WHEN stored.window_ends_at <= now() THEN ${nextWindowEnd} ELSE stored.window_ends_at END
    RETURNING requests, window_ends_at`;
}

/** Requests to subtract from the window in which they were counted. Ignored once a later window has started. */
export interface Uncounted {
  count: number;
  resetAtSeconds: number;
}

/** Returns how many requests the key's window still counts; undefined if its row is gone or is of a later window. */
export function uncountKeyRequests(db: Db, keyId: number, uncounted: Uncounted): Promise<number | undefined> {
  return uncountIn(db, KEYS, keyId, uncounted);
}

/** `uncountKeyRequests` for the session tokens of a user. */
export function uncountSessionRequests(db: Db, userId: number, uncounted: Uncounted): Promise<number | undefined> {
  return uncountIn(db, SESSIONS, userId, uncounted);
}

async function uncountIn(
  db: Db,
  { table, owner }: Counter,
  id: number,
  { count, resetAtSeconds }: Uncounted,
): Promise<number | undefined> {
  const { rows } = await sql<{ requests: number }>`
    UPDATE ${sql.table(table)} SET requests = greatest(0, requests - ${count}::integer)
    WHERE ${sql.ref(owner)} = ${id} AND ceil(extract(epoch FROM window_ends_at))::bigint = ${resetAtSeconds}::bigint
    RETURNING requests`.execute(db);
  return rows[0]?.requests;
}
