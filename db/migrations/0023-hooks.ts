import { sql, type Kysely } from 'kysely';

/** Hooks: addresses at which other services start runs. Extensions, section 6. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `CREATE TABLE hooks (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workflow_id integer NOT NULL REFERENCES workflows (id),
    author_id integer NOT NULL REFERENCES users (id),
    verify text NOT NULL CHECK (verify IN ('none', 'standard-webhooks', 'hmac-sha256')),
    header text,
    token_hash bytea NOT NULL UNIQUE,
    token_enc bytea NOT NULL,
    secret_enc bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_delivery_at timestamptz,
    last_delivery_status integer,
    CONSTRAINT hooks_secret CHECK ((verify = 'none') = (secret_enc IS NULL)),
    CONSTRAINT hooks_header CHECK ((verify = 'hmac-sha256') = (header IS NOT NULL))
  )`,
  `CREATE INDEX hooks_workflow ON hooks (workflow_id, id)`,
  // Unlogged and without a foreign key, like rate_limits: a row lives for a minute and is written with every delivery.
  `CREATE UNLOGGED TABLE hook_windows (
    hook_id integer PRIMARY KEY,
    ends_at timestamptz NOT NULL,
    deliveries integer NOT NULL,
    refusals integer NOT NULL
  ) WITH (fillfactor = 50)`,
];
