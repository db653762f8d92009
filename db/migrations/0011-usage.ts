import { sql, type Kysely } from 'kysely';

/** What is used and sent again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE provider_calls ADD COLUMN input_tokens bigint, ADD COLUMN output_tokens bigint`,
  // What a project has spent in a span of time.
  `CREATE INDEX billing_transactions_of_project ON billing_transactions (project_id, created_at)`,
  `ALTER TABLE webhook_deliveries ADD COLUMN sent_again_at timestamptz`,
];
