// Writers: the admin commands, the embedded stack's first start, and sign-in by OpenID Connect (create).
import { sql, type Selectable } from 'kysely';
import type { Db } from '../core/client.js';
import type { UsersTable } from '../core/tables.js';

export type UserRow = Selectable<UsersTable>;

interface NewUser {
  name: string;
  email?: string | undefined;
  apiAccess: boolean;
  isAdmin?: boolean;
}

/** Throws PostgreSQL's unique violation when another user has the e-mail address. */
export function createUser(db: Db, { name, email, apiAccess, isAdmin = false }: NewUser): Promise<UserRow> {
  return db
    .insertInto('users')
    .values({ name, email: email ?? null, api_access: apiAccess, is_admin: isAdmin })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findUser(db: Db, userId: number): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst();
}

/** Finds a user by e-mail address, without regard to case. */
export function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .executeTakeFirst();
}

export function listUsers(db: Db): Promise<UserRow[]> {
  return db.selectFrom('users').selectAll().orderBy('id').execute();
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
