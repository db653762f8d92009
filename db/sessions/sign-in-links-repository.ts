// Links that sign a user in, or set the user's password, once. Writers: the admin commands, the embedded stack's start and the
// API (create), the API (use).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { LinkPurpose } from '../core/tables.js';
import { hashToken, randomToken } from '../core/random-token.js';

const SIGN_IN_MINUTES = 10;
const PASSWORD_MINUTES = 24 * 60;

/** The token of a new link, known here for the only time. It is good once and for ten minutes. */
export async function createSignInLink(db: Db, userId: number): Promise<string> {
  const { token } = await createLink(db, userId, { purpose: 'sign-in', minutes: SIGN_IN_MINUTES });
  return token;
}

interface PasswordLink {
  /** Known here for the only time. */
  token: string;
  expiresAt: Date;
}

/** Makes the link in a transaction that holds the user (`holdActiveUser`). The link is good once and for 24 hours. */
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

/** The user of a link; undefined for a link that is unknown, used, too old or for something else. Nothing is locked. */
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

/** Uses the link up; false where somebody else has been faster. In a transaction that holds the user. */
export async function redeemLink(transaction: Db, token: string): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('sign_in_links')
    .set({ used_at: sql`now()` })
    .where('token_hash', '=', hashToken(token))
    .where(isGood)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes links in a transaction that has locked the user. */
export async function deleteUnusedLinks(transaction: Db, userId: number): Promise<void> {
  await transaction.deleteFrom('sign_in_links').where('user_id', '=', userId).where('used_at', 'is', null).execute();
}
