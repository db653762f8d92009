import { sql, type Kysely } from 'kysely';

/**
 * The W3C `traceparent` of the request that a run was accepted in, so that whichever process goes on with the run, and
 * whenever, goes on with its trace. Null for runs that were accepted while nothing was traced.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE runs ADD COLUMN traceparent text`.execute(db);
}
