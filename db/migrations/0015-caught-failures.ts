import { sql, type Kysely } from 'kysely';

/** Failures that a run survives, and nodes that are left by several handles. Extensions, section 1.1. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE node_results
    ADD COLUMN is_handled boolean NOT NULL DEFAULT false, ADD COLUMN also_handles smallint[]`.execute(db);
}
