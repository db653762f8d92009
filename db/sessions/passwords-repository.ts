// Writer: the admin commands. A password is known here by its hash only (api/sessions/password-hash.ts).
import { sql, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { Tables } from '../core/tables.js';
import { endSessionsOf } from './sessions-repository.js';

/** What a login needs to know before the password is compared. */
export interface LoginAccount {
  userId: number;
  /** Undefined for a user who has no password. */
  hash: string | undefined;
  /** Whether the user was signed in from this network before. */
  isKnownNetwork: boolean;
}

/** Sets the password and ends all that an older one has opened: sessions, and links that nobody has used. */
export function replacePassword(db: Db, userId: number, hash: string): Promise<void> {
  return inTransaction(db, async (trx) => {
    // First of all: a login that is under way with the old password waits for this row, or has its session ended below.
    await writePassword(trx, userId, hash);
    await endSessionsOf(trx, userId);
    await trx.deleteFrom('sign_in_links').where('user_id', '=', userId).where('used_at', 'is', null).execute();
  });
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
    SELECT users.id AS "userId", user_passwords.hash,
      EXISTS (SELECT FROM sessions WHERE user_id = users.id AND network = ${network}) AS "isKnownNetwork"
    FROM users LEFT JOIN user_passwords ON user_passwords.user_id = users.id
    WHERE lower(users.email) = lower(${email})`.execute(db);
  const [found] = rows;
  return found && { ...found, hash: found.hash ?? undefined };
}

/** Whether this is still the user's password; it stays so until the transaction ends. */
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
