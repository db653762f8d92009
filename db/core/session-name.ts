// Sessions are named by build, because an older build may misread what a process of this build stores.
import { sql } from 'kysely';
import type { Db } from './client.js';

/**
 * The number rises with a change after which older builds misread what is stored. From 2 on, credential headers of HTTP
 * nodes are cut out of drawings.
 */
const GENERATION = 2;

/** The name of a program's sessions in `pg_stat_activity`. */
export function sessionNameOf(program: 'api' | 'worker'): string {
  return `${program}.${GENERATION}`;
}

/** The names of the first generation, which had no number. */
const OLDER = ['api', 'worker'];

/** Returns whether a program of an older generation is connected to the database. */
export async function isOlderBuildConnected(db: Db): Promise<boolean> {
  const { rows } = await sql<{ isConnected: boolean }>`
    SELECT EXISTS (
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = ANY (${OLDER}::text[])
    ) AS "isConnected"`.execute(db);
  return rows[0]?.isConnected === true;
}
