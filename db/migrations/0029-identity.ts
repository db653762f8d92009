import { sql, type Kysely } from 'kysely';

/** Users who are locked out, scopes of keys, links that set a password, and requests of sessions. Extensions, section 9. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE users ADD COLUMN is_active boolean NOT NULL DEFAULT true`,
  `ALTER TABLE api_keys ADD COLUMN scope text NOT NULL DEFAULT 'full' CHECK (scope IN ('full', 'run', 'read'))`,
  `ALTER TABLE sign_in_links
    ADD COLUMN purpose text NOT NULL DEFAULT 'sign-in' CHECK (purpose IN ('sign-in', 'password'))`,
  // Whose user is locked out is paused.
  `CREATE INDEX schedules_author ON schedules (author_id)`,
  // Unlogged and without a foreign key, like rate_limits.
  `CREATE UNLOGGED TABLE session_rate_limits (
    user_id integer PRIMARY KEY,
    window_ends_at timestamptz NOT NULL,
    requests integer NOT NULL
  ) WITH (fillfactor = 50)`,
];
