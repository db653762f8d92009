import { sql, type Kysely } from 'kysely';

/** Keys of repeated run starts (decisions.md section 6). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Deferred: the key is claimed before the run is inserted, so that a request that comes second inserts nothing.
  `CREATE TABLE idempotency_keys (
    user_id integer NOT NULL REFERENCES users (id),
    key text NOT NULL,
    request_enc bytea NOT NULL,
    run_id uuid NOT NULL REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key)
  )`,
  `CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at)`,
];
