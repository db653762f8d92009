import { sql } from 'kysely';
import type { Db } from './client.js';

/** Reserves the next id of a table before its row is inserted, for sealed values, which are bound to the id. */
export async function reserveId(
  db: Db,
  table: 'cases' | 'connections' | 'hooks' | 'projects' | 'workflows',
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    SELECT nextval(pg_get_serial_sequence(${table}, 'id'))::integer AS id`.execute(db);
  return rows[0]!.id;
}
