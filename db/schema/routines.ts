// Applies the functions and triggers of the database. `db/routines/` has one file for each subject, which contains only
// their current text, and the table `routine_files` has the hash of each file that was applied.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

export interface RoutineFile {
  name: string;
  text: string;
}

const FOLDER = new URL('../routines/', import.meta.url);
let shipped: RoutineFile[] | undefined;

export function shippedRoutines(): readonly RoutineFile[] {
  shipped ??= readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }));
  return shipped;
}

/** Returns the files whose hash differs from the database's; all of them before the first migration. */
export async function differingRoutines(db: Db, files: readonly RoutineFile[]): Promise<RoutineFile[]> {
  const { rows: tables } = await sql<{
    exists: boolean;
  }>`SELECT to_regclass('routine_files') IS NOT NULL AS exists`.execute(db);
  if (files.length === 0 || tables[0]?.exists !== true) return [...files];
  const known = await db.selectFrom('routine_files').select(['name', 'hash']).execute();
  const hashes = new Map(known.map(({ name, hash }) => [name, hash]));
  return files.filter((file) => hashes.get(file.name) !== hashOf(file));
}

/** Replaces the functions and triggers of the files and records the hashes of the files. Requires a transaction. */
export async function applyRoutines(trx: Db, files: readonly RoutineFile[]): Promise<void> {
  // A function may call one that a later file defines.
  await sql`SELECT set_config('check_function_bodies', 'off', true)`.execute(trx);
  for (const file of files) {
    await sql.raw(file.text).execute(trx);
    await trx
      .insertInto('routine_files')
      .values({ name: file.name, hash: hashOf(file) })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((row) => ({ hash: row.ref('excluded.hash'), applied_at: row.ref('excluded.applied_at') })),
      )
      .execute();
  }
}

function hashOf({ text }: RoutineFile): string {
  return createHash('sha256').update(text).digest('hex');
}
