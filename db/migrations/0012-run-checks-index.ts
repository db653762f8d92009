import { sql, type Kysely } from 'kysely';

/**
 * The index that the reconciler reads named `status = 'In Progress'`, as every statement of a running node does: with
 * few runs open the planner took it for those too, and went through all open runs for the one whose id it had.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `DROP INDEX runs_to_check`,
  // Open runs have a next check, others none. Who reads all open runs says so.
  `CREATE INDEX runs_to_check ON runs (next_check_at) WHERE next_check_at IS NOT NULL`,
];
