// Links that sign a user in or set the user's password, once. Created by the admin commands, the embedded stack's
// start and the API; used by the API.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { LinkPurpose } from '../core/tables.js';
import { hashToken, randomToken } from '../core/random-token.js';

const SIGN_IN_MINUTES = 10;
const PASSWORD_MINUTES = 24 * 60;

/** Creates a link that is valid once, for ten minutes. Returns its token, which cannot be read again later. */
export async function createSignInLink(db: Db, userId: number): Promise<string> {
  const { token } = await createLink(db, userId, { purpose: 'sign-in', minutes: SIGN_IN_MINUTES });
  return token;
}

interface PasswordLink {
  /** Cannot be read again later. */
  token: string;
  expiresAt: Date;
}

/**
 * Creates a link that is valid once, for 24 hours. Requires a transaction that has locked the user's row
 * (`holdActiveUser`).
 */
export function createPasswordLink(transaction: Db, userId: number): Promise<PasswordLink> {
  return createLink(transaction, userId, { purpose: 'password', minutes: PASSWORD_MINUTES });
}

async function createLink(
  db: Db,
  userId: number,
  { purpose, minutes }: { purpose: LinkPurpose; minutes: number },
): Promise<PasswordLink> {
  const token = randomToken();
  const { expires_at: expiresAt } = await db
    .insertInto('sign_in_links')
    .values({
      token_hash: hashToken(token),
      user_id: userId,
      purpose,
      expires_at: sql<Date>`now() + make_interval(mins => ${minutes})`,
      used_at: null,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return { token, expiresAt };
}

const isGood = sql<boolean>`used_at IS NULL AND expires_at > now()`;

/** Returns the link's user; undefined if the link is unknown, used, expired, or for another purpose. Locks nothing. */
export async function findLinkUser(db: Db, token: string, purpose: LinkPurpose): Promise<number | undefined> {
  const link = await db
    .selectFrom('sign_in_links')
    .select('user_id')
    .where('token_hash', '=', hashToken(token))
    .where('purpose', '=', purpose)
    .where(isGood)
    .executeTakeFirst();
  return link?.user_id;
}

/**
 * Marks the link as used. Returns false if it was used meanwhile, was deleted or has expired. Requires a transaction
 * that has locked the user's row.
 */
export async function redeemLink(transaction: Db, token: string): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('sign_in_links')
    .set({ used_at: sql`now()` })
    .where('token_hash', '=', hashToken(token))
    .where(isGood)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Requires a transaction that has locked the user. */
export async function deleteUnusedLinks(transaction: Db, userId: number): Promise<void> {
  await transaction.deleteFrom('sign_in_links').where('user_id', '=', userId).where('used_at', 'is', null).execute();
}
