// Links that sign a user in once. Writers: the admin commands and the embedded stack's start (create), the API (use).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { hashToken, randomToken } from './random-token.js';

const MINUTES = 10;

/** The token of a new link, known here for the only time. It is good once and for ten minutes. */
export async function createSignInLink(db: Db, userId: number): Promise<string> {
  const token = randomToken();
  await db
    .insertInto('sign_in_links')
    .values({
      token_hash: hashToken(token),
      user_id: userId,
      expires_at: sql<Date>`now() + make_interval(mins => ${MINUTES})`,
      used_at: null,
    })
    .execute();
  return token;
}

/** The link's user, and nobody's any more; undefined for a link that is unknown, used or too old. */
export async function redeemSignInLink(db: Db, token: string): Promise<number | undefined> {
  const used = await db
    .updateTable('sign_in_links')
    .set({ used_at: sql`now()` })
    .where('token_hash', '=', hashToken(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('user_id')
    .executeTakeFirst();
  return used?.user_id;
}
