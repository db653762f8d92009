// Sessions of users. Writers: the API, and `admin set-password`, which ends them (docs/operate/sign-in.md, "Sessions").
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import type { SignInMethod, Tables } from '../core/tables.js';
import { createRefreshToken, type RefreshToken } from './refresh-token.js';

/** The lifetime of a session after sign-in or last refresh. */
const IDLE_DAYS = 14;
const MAX_DAYS = 90;
/** The limit on live sessions of a user. A further session ends the least recently used one. */
const MAX_SESSIONS = 100;

export const isLive = sql<boolean>`sessions.ended_at IS NULL AND sessions.expires_at > now()`;
/** Computes in hours, because a day in a time zone may have 23 or 25. */
const idleEnd = sql<Date>`now() + make_interval(hours => 24 * ${sql.lit(IDLE_DAYS)})`;

export interface OpenedSession {
  sessionId: string;
  userId: number;
  /** Seconds until the session expires without a refresh. */
  secondsLeft: number;
}

export interface NewSession {
  userId: number;
  method: SignInMethod;
  network: string;
  userAgent: string;
}

/**
 * Locks the user's row (FOR SHARE). Must be the first lock in a transaction that signs the user in or creates a
 * password link. The lock waits for a concurrent lock-out or change of the password. If this lock comes first, the
 * lock-out or change waits, and then ends the session, or deletes the link, that this transaction has created. Lock
 * order: user, password, links, sessions. Returns false if there is no such active user.
 */
export async function holdActiveUser(transaction: Db, userId: number): Promise<boolean> {
  const user = transaction.selectFrom('users').select('id').where('id', '=', userId).where('is_active', '=', true);
  return (await user.forShare().executeTakeFirst()) !== undefined;
}

/**
 * Opens a session if the user is active and `confirm` returns true; otherwise returns undefined and changes nothing.
 * `confirm` checks in the same transaction whether the sign-in is still valid.
 */
export async function openSession(
  transaction: Transaction<Tables>,
  session: NewSession,
  confirm: () => Promise<boolean>,
): Promise<(OpenedSession & { token: string }) | undefined> {
  if (!(await holdActiveUser(transaction, session.userId)) || !(await confirm())) return undefined;
  return createSession(transaction, session);
}

/**
 * Opens a session in a transaction that has locked the user's row. Returns the refresh token, which cannot be read
 * again later.
 */
export async function createSession(
  trx: Transaction<Tables>,
  { userId, method, network, userAgent }: NewSession,
): Promise<OpenedSession & { token: string }> {
  const { token, familyHash, tokenHash }: RefreshToken = createRefreshToken();
  const opened = await trx
    .insertInto('sessions')
    .values({
      user_id: userId,
      method,
      family_hash: familyHash,
      token_hash: tokenHash,
      network,
      user_agent: userAgent,
      expires_at: idleEnd,
      ended_at: null,
    })
    .returning(['id as sessionId', 'user_id as userId', secondsLeft()])
    .executeTakeFirstOrThrow();
  await sql`
    UPDATE sessions SET ended_at = now() WHERE id IN (
      SELECT id FROM sessions WHERE user_id = ${userId} AND ${isLive}
      ORDER BY last_used_at DESC, id OFFSET ${MAX_SESSIONS}::integer
    )`.execute(trx);
  return { ...opened, token };
}

/** The columns that an UPDATE sets to extend a session. */
export const keptOpen = {
  last_used_at: sql<Date>`now()`,
  expires_at: sql<Date>`least(${idleEnd}, created_at + make_interval(hours => 24 * ${sql.lit(MAX_DAYS)}))`,
};

export function secondsLeft() {
  const seconds: RawBuilder<number> = sql<number>`floor(extract(epoch FROM expires_at - now()))::integer`;
  return seconds.as('secondsLeft');
}

export async function endSession(db: Db, userId: number, sessionId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ ended_at: sql`now()` })
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where(isLive)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function endSessionsOf(db: Db, userId: number, except?: string): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: sql`now()` })
    .where('user_id', '=', userId)
    .where(isLive)
    .$if(except !== undefined, (query) => query.where('id', '!=', except!))
    .execute();
}

/** Lists the user's live sessions, the last used first. */
export async function listSessions(
  db: Db,
  { userId, limit, offset }: { userId: number; limit: number; offset: number },
) {
  const live = db.selectFrom('sessions').where('user_id', '=', userId).where(isLive);
  const { total } = await live.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const sessions = await live
    .select(['id', 'method', 'network', 'user_agent', 'created_at', 'last_used_at', 'expires_at'])
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, sessions };
}
