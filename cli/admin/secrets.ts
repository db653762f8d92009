// Retiring a key of SECRETS_KEY: what is sealed with which key, and sealing everything with the first one.
import { sql } from 'kysely';
import { countByKey, resealColumn, SEALED_COLUMNS } from '../../db/core/sealed-columns.js';
import { createSecretBox } from '../../db/core/secret-box.js';
import type { AdminContext } from './context.js';

/** A service that goes on writing with an older key, or copies a row while its table is read, is caught up with. */
const MAX_PASSES = 5;

/** How many stored values each key has sealed; `unreadable` are those whose key is not among the keys given. */
export async function showSecrets(context: AdminContext): Promise<object> {
  const { keyIds } = await open(context);
  const tables = [];
  let unreadable = 0;
  for (const sealed of SEALED_COLUMNS) {
    const counts = await countByKey(context.db, sealed);
    for (const [id, values] of counts) if (!keyIds.includes(id)) unreadable += values;
    tables.push({ table: sealed.table, column: sealed.column, values: Object.fromEntries(counts) });
  }
  return { keys: keyIds, unreadable, tables };
}

/** Seals every value with the first key. `complete`: no value needs another key any more. */
export async function reencryptSecrets(context: AdminContext): Promise<object> {
  const box = await open(context);
  const tables = [];
  for (const sealed of SEALED_COLUMNS) {
    let resealed = 0;
    for (let pass = 1, found = 1; found > 0 && pass <= MAX_PASSES; pass += 1) {
      found = await resealColumn(context.db, box, sealed);
      resealed += found;
    }
    tables.push({ ...sealed, resealed });
  }
  // Counted at the very end: the service has gone on writing.
  let left = 0;
  const shown = [];
  for (const { resealed, ...sealed } of tables) {
    const counts = await countByKey(context.db, sealed);
    const others = [...counts].filter(([id]) => id !== box.keyId).map(([, values]) => values);
    const leftHere = others.reduce((sum, values) => sum + values, 0);
    left += leftHere;
    shown.push({ table: sealed.table, column: sealed.column, resealed, left: leftHere });
  }
  return { key: box.keyId, complete: left === 0, left, tables: shown };
}

/** A table may be large: no statement of these commands is cut short. They have one connection. */
async function open(context: AdminContext) {
  const box = createSecretBox(context.secretsKeys());
  await sql`SET statement_timeout = 0`.execute(context.db);
  return box;
}
