// Finds the user of an API key or a session and counts the requests of this minute.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
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
  /** The seconds until then, at least 1. */
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
 * Looks the key up and counts `count` requests of it; 0 counts nothing and writes nothing. Undefined, and nothing counted,
 * when there is no such key, it has expired, or its user is not active. A window begins with the first request after the last
 * one ended and lasts a minute.
 *
 * The count is exact over any number of processes: the row's lock puts the requests of a key in one order, and only the
 * database's clock is asked. `now()` is the same in the whole statement, so that count and window are judged alike. A process
 * that dies here has counted its request or not; nothing is left locked.
 */
export async function countKeyRequests(db: Db, apiKey: string, count: number): Promise<CountedKey | undefined> {
  const { rows } = await sql<CountedKey>`${named(count, 'key_requests')}
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
 * Counts `count` requests of the user whom a session token names, as `countKeyRequests` does; undefined, and nothing counted,
 * when there is no such active user, or the session is over.
 */
export async function countSessionRequests(
  db: Db,
  subject: TokenSubject,
  count: number,
): Promise<CountedWindow | undefined> {
  const { rows } = await sql<CountedWindow>`${named(count, `requests_by_${subject.by}`)}
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

/** The name of a statement that is prepared (db/core/client.ts): one for each of its texts. */
function named(count: number, what: string): RawBuilder<unknown> {
  return sql.raw(`/* ${count === 0 ? 'find' : 'count'}_${what} */`);
}

const windowColumns = sql`requests, ceil(extract(epoch FROM window_ends_at))::bigint AS "resetAtSeconds",
  greatest(1, ceil(extract(epoch FROM window_ends_at - now())))::integer AS "resetInSeconds"`;

const nextWindowEnd = sql`now() + make_interval(secs => ${sql.lit(WINDOW_SECONDS)})`;

/** The window of the `id` of `holder`, with `count` more requests. Where none is open, the one that would begin now. */
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

/** Requests that are taken back from the window in which they were counted; a window that is over does not matter. */
export interface Uncounted {
  count: number;
  /** When that window ends. */
  resetAtSeconds: number;
}

/** Returns the key's requests of the window afterwards; undefined when the window is over. */
export function uncountKeyRequests(db: Db, keyId: number, uncounted: Uncounted): Promise<number | undefined> {
  return uncountIn(db, KEYS, keyId, uncounted);
}

/** Takes back requests of the user's sessions, as `uncountKeyRequests` does for a key. */
export function uncountSessionRequests(db: Db, userId: number, uncounted: Uncounted): Promise<number | undefined> {
  return uncountIn(db, SESSIONS, userId, uncounted);
}

async function uncountIn(
  db: Db,
  { table, owner }: Counter,
  id: number,
  { count, resetAtSeconds }: Uncounted,
): Promise<number | undefined> {
  const { rows } = await sql<{ requests: number }>`${sql.raw(`/* uncount_${table} */`)}
    UPDATE ${sql.table(table)} SET requests = greatest(0, requests - ${count}::integer)
    WHERE ${sql.ref(owner)} = ${id} AND ceil(extract(epoch FROM window_ends_at))::bigint = ${resetAtSeconds}::bigint
    RETURNING requests`.execute(db);
  return rows[0]?.requests;
}
