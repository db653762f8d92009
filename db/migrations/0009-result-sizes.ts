import { sql, type Kysely } from 'kysely';

/**
 * How many bytes of JSON text a result has: what decides whether it is read together with others or by itself, and is
 * expensive to find out from the stored value, which must be unpacked for it. Null for rows from before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE node_results ADD COLUMN result_bytes integer`.execute(db);
}
