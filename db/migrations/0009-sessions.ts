import { sql, type Kysely } from 'kysely';

/** How people sign in and stay signed in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `CREATE TABLE user_passwords (
    user_id integer PRIMARY KEY REFERENCES users (id),
    hash text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
  )`,

  `CREATE TABLE sessions (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id integer NOT NULL REFERENCES users (id),
    method text NOT NULL CHECK (method IN ('password', 'link', 'oidc')),
    family_hash bytea NOT NULL UNIQUE,
    token_hash bytea NOT NULL,
    network text NOT NULL,
    user_agent text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz
  )`,
  `CREATE INDEX sessions_user ON sessions (user_id, last_used_at DESC, id)`,
  // For retention: an ended session is over when it was ended, any other one when it expires.
  `CREATE INDEX sessions_over ON sessions ((coalesce(ended_at, expires_at)))`,

  `CREATE TABLE sign_in_links (
    token_hash bytea PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id),
    purpose text NOT NULL DEFAULT 'sign-in' CHECK (purpose IN ('sign-in', 'password')),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at timestamptz
  )`,
  `CREATE INDEX sign_in_links_expired ON sign_in_links (expires_at)`,
  `CREATE INDEX sign_in_links_user ON sign_in_links (user_id)`,

  // Unlogged, like rate_limits: a row lives for a minute, and attackers write most of them. A crash of the database
  // empties the tables, and all minutes begin anew.
  `CREATE UNLOGGED TABLE login_failures (
    key bytea PRIMARY KEY,
    failures integer NOT NULL,
    ends_at timestamptz NOT NULL
  ) WITH (fillfactor = 50)`,
  `CREATE UNLOGGED TABLE login_waits (
    key bytea PRIMARY KEY,
    ready_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL
  )`,

  `CREATE TABLE oidc_identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id integer NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject),
    UNIQUE (user_id, issuer)
  )`,
];
