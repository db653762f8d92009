import { sql, type Kysely } from 'kysely';

/** Runs that take over results of earlier runs. Extensions, section 3. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE runs ADD COLUMN resumed_from uuid REFERENCES runs (id)`,
  // A row that was copied from the earlier run, an iteration or a node: nothing was executed for it, and nothing was paid.
  `ALTER TABLE node_results ADD COLUMN is_reused boolean NOT NULL DEFAULT false`,
];
