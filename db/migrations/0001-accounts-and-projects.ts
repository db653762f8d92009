import { sql, type Kysely } from 'kysely';

/** Who may call the service, how often, and in which projects they work. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `CREATE TABLE users (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    api_access boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,

  `CREATE TABLE api_keys (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id),
    label text NOT NULL DEFAULT '',
    key_hash bytea NOT NULL UNIQUE,
    key_hint text NOT NULL,
    rate_limit integer CHECK (rate_limit > 0),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX api_keys_user ON api_keys (user_id)`,

  // Unlogged: a row lives for a minute, is written with every request and must cost no disk write. A crash of the
  // database empties the table, and all windows begin anew. There is no foreign key, because it would make the first
  // request of a key wait for, or fail with, the key's deletion.
  `CREATE UNLOGGED TABLE rate_limits (
    key_id integer PRIMARY KEY,
    window_ends_at timestamptz NOT NULL,
    requests integer NOT NULL
  ) WITH (fillfactor = 50)`,

  `CREATE TABLE projects (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    webhook_url text NOT NULL DEFAULT '',
    is_webhook_enabled boolean NOT NULL DEFAULT false,
    webhook_secret_enc bytea,
    webhook_secret_shown_at timestamptz,
    webhook_previous_secret_enc bytea,
    total_spent_usd numeric NOT NULL DEFAULT 0,
    created_by integer NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    CONSTRAINT projects_webhook_signed CHECK (NOT is_webhook_enabled OR webhook_secret_enc IS NOT NULL)
  )`,

  `CREATE TABLE project_members (
    project_id integer NOT NULL REFERENCES projects (id),
    user_id integer NOT NULL REFERENCES users (id),
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, user_id)
  )`,
  `CREATE INDEX project_members_user ON project_members (user_id, project_id)`,

  `CREATE TABLE provider_keys (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id integer NOT NULL REFERENCES projects (id),
    provider text NOT NULL,
    name text NOT NULL,
    key_enc bytea NOT NULL,
    masked_key text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX provider_keys_project ON provider_keys (project_id, provider)`,
];
