// Writer: the admin commands (and the embedded stack's first start).
import type { Selectable } from 'kysely';
import type { Db } from '../core/client.js';
import type { UsersTable } from '../core/tables.js';

export type UserRow = Selectable<UsersTable>;

export function createUser(db: Db, user: { name: string; apiAccess: boolean }): Promise<UserRow> {
  return db
    .insertInto('users')
    .values({ name: user.name, api_access: user.apiAccess })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findUser(db: Db, userId: number): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
}

/** Grants or takes back the use of the API; undefined when there is no such user. */
export function setApiAccess(db: Db, userId: number, apiAccess: boolean): Promise<UserRow | undefined> {
  return db
    .updateTable('users')
    .set({ api_access: apiAccess })
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirst();
}
