import { sql, type Kysely } from 'kysely';

/** Who a user is, and what a key may do. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE users ADD COLUMN email text, ADD COLUMN is_admin boolean NOT NULL DEFAULT false`,
  // E-mail addresses match case-insensitively.
  `CREATE UNIQUE INDEX users_email ON users (lower(email))`,
  `ALTER TABLE api_keys ADD COLUMN project_id integer REFERENCES projects (id), ADD COLUMN expires_at timestamptz`,
];
