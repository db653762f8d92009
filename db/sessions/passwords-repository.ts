// Passwords of users, as hashes only (api/sessions/password-hash.ts). Writers: the admin commands and the API.
import { sql, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { Tables } from '../core/tables.js';
import { createSession, endSessionsOf, type NewSession, type OpenedSession } from './sessions-repository.js';
import { deleteUnusedLinks, redeemLink } from './sign-in-links-repository.js';

interface LoginAccount {
  userId: number;
  /** Undefined for an inactive user, and for one without a password. */
  hash: string | undefined;
  /** True if a stored session of the user was last used from this network. */
  isKnownNetwork: boolean;
}

/** Sets the password, ends all sessions and deletes all unused links. */
export function replacePassword(db: Db, userId: number, hash: string): Promise<void> {
  return inTransaction(db, async (trx) => {
    await lockUser(trx, userId);
    await writePassword(trx, userId, hash);
    await endAllOf(trx, userId);
  });
}

interface PasswordChange {
  userId: number;
  /** The hash of the password that the user entered as the current one. */
  before: string;
  hash: string;
  /** The session that stays open. */
  sessionId: string | undefined;
}

/** Returns false, and changes nothing, if the password is not `before` any more. */
export function changePassword(db: Db, { userId, before, hash, sessionId }: PasswordChange): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockUser(trx, userId);
    if (!(await holdsPassword(trx, userId, before))) return false;
    await writePassword(trx, userId, hash);
    await endAllOf(trx, userId, sessionId);
    return true;
  });
}

/**
 * Uses up a password link, sets the password, ends all sessions, deletes all unused links, and opens a session. Returns
 * undefined, and changes nothing, if the link cannot be used any more (`redeemLink`) or the user is not active.
 */
export function resetPassword(
  db: Db,
  { token, hash, session }: { token: string; hash: string; session: NewSession },
): Promise<(OpenedSession & { token: string }) | undefined> {
  const { userId } = session;
  return inTransaction(db, async (trx) => {
    if (!(await lockUser(trx, userId)) || !(await redeemLink(trx, token))) return undefined;
    await writePassword(trx, userId, hash);
    await endAllOf(trx, userId);
    return createSession(trx, session);
  });
}

/**
 * Must be the first lock of the transaction, for the reasons that `holdActiveUser` gives. Returns false if there is no
 * such active user.
 */
async function lockUser(trx: Transaction<Tables>, userId: number): Promise<boolean> {
  const user = trx.selectFrom('users').select('is_active').where('id', '=', userId);
  return (await user.forNoKeyUpdate().executeTakeFirst())?.is_active === true;
}

async function endAllOf(trx: Transaction<Tables>, userId: number, exceptSession?: string): Promise<void> {
  await endSessionsOf(trx, userId, exceptSession);
  await deleteUnusedLinks(trx, userId);
}

export async function writePassword(db: Db, userId: number, hash: string): Promise<void> {
  await db
    .insertInto('user_passwords')
    .values({ user_id: userId, hash })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash, changed_at: sql`now()` }))
    .execute();
}

/** Uses a single statement that costs the same if the user does not exist. */
export async function findLoginAccount(db: Db, email: string, network: string): Promise<LoginAccount | undefined> {
  const { rows } = await sql<{ userId: number; hash: string | null; isKnownNetwork: boolean }>`
    SELECT users.id AS "userId", CASE WHEN users.is_active THEN user_passwords.hash END AS hash,
      EXISTS (SELECT FROM sessions WHERE user_id = users.id AND network = ${network}) AS "isKnownNetwork"
    FROM users LEFT JOIN user_passwords ON user_passwords.user_id = users.id
    WHERE lower(users.email) = lower(${email})`.execute(db);
  const [found] = rows;
  return found && { ...found, hash: found.hash ?? undefined };
}

/** Returns true if this is still the user's password; it cannot change until the transaction ends. */
export async function holdsPassword(trx: Transaction<Tables>, userId: number, hash: string): Promise<boolean> {
  const row = await trx
    .selectFrom('user_passwords')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('hash', '=', hash)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** `findLoginAccount` for a user who is signed in. */
export async function findOwnAccount(db: Db, userId: number, network: string): Promise<LoginAccount> {
  const { rows } = await sql<{ hash: string | null; isKnownNetwork: boolean }>`
    SELECT (SELECT hash FROM user_passwords WHERE user_id = ${userId}) AS hash,
      EXISTS (SELECT FROM sessions WHERE user_id = ${userId} AND network = ${network}) AS "isKnownNetwork"`.execute(db);
  const { hash, isKnownNetwork } = rows[0]!;
  return { userId, hash: hash ?? undefined, isKnownNetwork };
}
