// Changes of users by administrators. When a user becomes inactive, their sessions end, their unused links are deleted,
// and their schedules are paused.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { pauseSchedulesOf } from '../schedules/firings-repository.js';
import { endSessionsOf } from '../sessions/sessions-repository.js';
import { deleteUnusedLinks } from '../sessions/sign-in-links-repository.js';
import { USER_COLUMNS, type UserRow } from '../users/users-repository.js';

export interface UserChanges {
  name?: string | undefined;
  email?: string | null | undefined;
  api_access?: boolean | undefined;
  is_admin?: boolean | undefined;
  is_active?: boolean | undefined;
}

/** Receives the id of each user who becomes inactive. */
export const LOCKED_OUT_CHANNEL = 'users_locked_out';

/**
 * Returns undefined if there is no such user. `last_admin`: nothing was changed, because nobody else is an active
 * administrator. A user who becomes inactive is locked out in the same transaction. Throws PostgreSQL's unique
 * violation if another user has the e-mail address.
 */
export function updateUser(db: Db, userId: number, changes: UserChanges): Promise<UserRow | 'last_admin' | undefined> {
  return inTransaction(db, async (transaction) => {
    const takesAway = changes.is_admin === false || changes.is_active === false;
    if (takesAway && (await isLastAdmin(transaction, userId))) return 'last_admin';
    const columns = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const user = transaction.selectFrom('users').select(USER_COLUMNS).where('id', '=', userId);
    if (Object.keys(columns).length === 0) return user.executeTakeFirst();
    const changed = await transaction
      .updateTable('users')
      .set(columns)
      .where('id', '=', userId)
      .returning(USER_COLUMNS)
      .executeTakeFirst();
    if (changes.is_active === false) await lockOut(transaction, userId);
    return changed;
  });
}

/**
 * Ends the user's sessions, deletes their unused links and pauses their schedules. The update has locked the user's
 * row, so a concurrent sign-in either waits or has its session ended here. Keys, tokens of other services, hooks and
 * firings under way check `is_active` themselves.
 */
async function lockOut(transaction: Db, userId: number): Promise<void> {
  await endSessionsOf(transaction, userId);
  await deleteUnusedLinks(transaction, userId);
  await pauseSchedulesOf(transaction, userId);
  await sql`SELECT pg_notify(${LOCKED_OUT_CHANNEL}, ${String(userId)})`.execute(transaction);
}

/**
 * Locks all active administrators in the order of their ids, so that administrators who step down at the same time do
 * so one after the other, and one remains.
 */
async function isLastAdmin(transaction: Db, userId: number): Promise<boolean> {
  const admins = await transaction
    .selectFrom('users')
    .select('id')
    .where('is_admin', '=', true)
    .where('is_active', '=', true)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return admins.length === 1 && admins[0]?.id === userId;
}
