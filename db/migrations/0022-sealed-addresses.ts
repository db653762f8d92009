import { sql, type Kysely } from 'kysely';

/**
 * Drawings that earlier builds have stored may hold a user name and password in addresses. They are sealed as credential
 * headers were (0016-sealed-headers.ts), by another round over all drawings.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`UPDATE header_sealing SET after = NULL, done_at = NULL`.execute(db);
}
