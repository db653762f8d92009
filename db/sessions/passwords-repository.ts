// Writers: the admin commands and the API. A password is known here by its hash only (api/sessions/password-hash.ts).
import { sql, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { Tables } from '../core/tables.js';
import { createSession, endSessionsOf, type NewSession, type OpenedSession } from './sessions-repository.js';
import { deleteUnusedLinks, redeemLink } from './sign-in-links-repository.js';

/** A login needs to know this before the password is compared. */
interface LoginAccount {
  userId: number;
  /** Undefined for a user who has no password, and for one who is not active. */
  hash: string | undefined;
  /** True if the user was signed in from this network before. */
  isKnownNetwork: boolean;
}

/** Sets the password and ends all that an older one has opened: sessions, and links that nobody has used. */
export function replacePassword(db: Db, userId: number, hash: string): Promise<void> {
  return inTransaction(db, async (trx) => {
    await lockUser(trx, userId);
    await writePassword(trx, userId, hash);
    await endAllOf(trx, userId);
  });
}

interface PasswordChange {
  userId: number;
  /** The hash of the password that the user has given as the present one. */
  before: string;
  hash: string;
  /** The session that goes on. */
  sessionId: string | undefined;
}

/** Returns false, and changes nothing, if the user has another password by now. */
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
 * Uses a password link up, sets the password, ends all sessions and all other links, and opens a session. Undefined, and
 * nothing is changed, where the link was used meanwhile or the user is not active.
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

/** First of all (`holdActiveUser`). False: there is no such active user. */
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

/** One statement of the same cost whether or not there is such a user. */
export async function findLoginAccount(db: Db, email: string, network: string): Promise<LoginAccount | undefined> {
  const { rows } = await sql<{ userId: number; hash: string | null; isKnownNetwork: boolean }>`/* find_login_account */
    SELECT users.id AS "userId", CASE WHEN users.is_active THEN user_passwords.hash END AS hash,
      EXISTS (SELECT FROM sessions WHERE user_id = users.id AND network = ${network}) AS "isKnownNetwork"
    FROM users LEFT JOIN user_passwords ON user_passwords.user_id = users.id
    WHERE lower(users.email) = lower(${email})`.execute(db);
  const [found] = rows;
  return found && { ...found, hash: found.hash ?? undefined };
}

/** Returns whether this is still the user's password; it stays so until the transaction ends. */
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

/** Reads the password of a user who is signed in, as a login does. */
export async function findOwnAccount(db: Db, userId: number, network: string): Promise<LoginAccount> {
  const { rows } = await sql<{ hash: string | null; isKnownNetwork: boolean }>`
    SELECT (SELECT hash FROM user_passwords WHERE user_id = ${userId}) AS hash,
      EXISTS (SELECT FROM sessions WHERE user_id = ${userId} AND network = ${network}) AS "isKnownNetwork"`.execute(db);
  const { hash, isKnownNetwork } = rows[0]!;
  return { userId, hash: hash ?? undefined, isKnownNetwork };
}
