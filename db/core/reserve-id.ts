import { sql } from 'kysely';
import type { Db } from './client.js';

/** Takes the next id of a table before its row is inserted, for values that are bound to the id when they are sealed. */
export async function reserveId(
  db: Db,
  table: 'cases' | 'connections' | 'hooks' | 'projects' | 'workflows',
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    SELECT nextval(pg_get_serial_sequence(${table}, 'id'))::integer AS id`.execute(db);
  return rows[0]!.id;
}
