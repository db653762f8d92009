import { sql, type Kysely } from 'kysely';

/** The outbox of webhook events, which is also their delivery log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // `payload` is text: an attempt sends, and signs, the very bytes of the one before.
  `CREATE TABLE webhook_deliveries (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    ordinal bigint GENERATED ALWAYS AS IDENTITY,
    project_id integer NOT NULL REFERENCES projects (id),
    run_id uuid REFERENCES runs (id),
    type text NOT NULL,
    payload text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'dropped')),
    attempts integer NOT NULL DEFAULT 0,
    response_status integer,
    error_code text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_again_at timestamptz,
    next_attempt_at timestamptz DEFAULT clock_timestamp(),
    leased_until timestamptz,
    delivered_at timestamptz,
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
  ) WITH (fillfactor = 80)`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at, ordinal) WHERE status = 'pending'`,
  `CREATE INDEX webhook_deliveries_of_run ON webhook_deliveries (run_id, ordinal) WHERE status = 'pending'`,
  `CREATE INDEX webhook_deliveries_of_project ON webhook_deliveries (project_id, ordinal)`,
  `CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (created_at) WHERE status <> 'pending'`,
];
