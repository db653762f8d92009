// Users. Writers: the API (administrators, and sign-in by OpenID Connect), the admin commands, and the first start of
// the embedded stack.
import { sql, type Selectable } from 'kysely';
import type { Db } from '../core/client.js';
import { containing } from '../core/like-pattern.js';
import type { Tables } from '../core/tables.js';

export type UserRow = Selectable<Tables['users']>;

export const USER_COLUMNS = ['id', 'name', 'email', 'is_admin', 'is_active', 'api_access', 'created_at'] as const;

interface NewUser {
  name: string;
  email?: string | undefined;
  apiAccess: boolean;
  isAdmin?: boolean;
}

interface UserListQuery {
  /** Matched against the name and the e-mail address. */
  search: string | undefined;
  limit: number;
  offset: number;
}

/** Throws PostgreSQL's unique violation if another user has the e-mail address (`isEmailTaken`). */
export function createUser(db: Db, { name, email, apiAccess, isAdmin = false }: NewUser): Promise<UserRow> {
  return db
    .insertInto('users')
    .values({ name, email: email ?? null, api_access: apiAccess, is_admin: isAdmin })
    .returning(USER_COLUMNS)
    .executeTakeFirstOrThrow();
}

export function findUser(db: Db, userId: number): Promise<UserRow | undefined> {
  return db.selectFrom('users').select(USER_COLUMNS).where('id', '=', userId).executeTakeFirst();
}

/** Ignores case. */
export function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return db
    .selectFrom('users')
    .select(USER_COLUMNS)
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .executeTakeFirst();
}

export function listUsers(db: Db): Promise<UserRow[]> {
  return db.selectFrom('users').select(USER_COLUMNS).orderBy('id').execute();
}

/** Ordered by id. */
export async function pageOfUsers(
  db: Db,
  { search, limit, offset }: UserListQuery,
): Promise<{ total: number; users: UserRow[] }> {
  const matching = db
    .selectFrom('users')
    .$if(search !== undefined, (query) =>
      query.where((eb) =>
        eb.or([eb('name', 'ilike', containing(search ?? '')), eb('email', 'ilike', containing(search ?? ''))]),
      ),
    );
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const users = await matching.select(USER_COLUMNS).orderBy('id').limit(limit).offset(offset).execute();
  return { total, users };
}

export function setApiAccess(db: Db, userId: number, apiAccess: boolean): Promise<UserRow | undefined> {
  return db
    .updateTable('users')
    .set({ api_access: apiAccess })
    .where('id', '=', userId)
    .returning(USER_COLUMNS)
    .executeTakeFirst();
}

export function isEmailTaken(error: unknown): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === '23505' && constraint === 'users_email';
}
