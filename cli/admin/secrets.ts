// Retires a key of SECRETS_KEY: counts the stored values by key, and seals all values again with the first key.
import { sql } from 'kysely';
import { insertAuditEntry, SYSTEM } from '../../db/audit/audit-entry.js';
import { countByKey, resealColumn, SEALED_COLUMNS } from '../../db/rotation/sealed-columns.js';
import { countCopiesByKey } from '../../db/files/copies-repository.js';
import { openFiles } from '../../files/open-files.js';
import { resealFiles } from '../../files/reseal-files.js';
import { createSecretBox } from '../../db/core/secret-box.js';
import type { AdminContext } from './context.js';

/** Further passes find values that the running service sealed with an older key, or copied, while a table was read. */
const MAX_PASSES = 5;

/** Names the files in the results. The bytes of files are in the file store and are encrypted again there. */
const OF_FILES = { table: 'file_copies', column: 'seal' };

/** Counts the stored values by key. `unreadable` counts the values whose key is missing. */
export async function showSecrets(context: AdminContext): Promise<object> {
  const { keyIds } = await open(context);
  const tables = [];
  let unreadable = 0;
  for (const sealed of SEALED_COLUMNS) {
    const counts = await countByKey(context.db, sealed);
    for (const [id, values] of counts) if (!keyIds.includes(id)) unreadable += values;
    tables.push({ table: sealed.table, column: sealed.column, values: Object.fromEntries(counts) });
  }
  const counts = await countCopiesByKey(context.db);
  for (const [id, values] of counts) if (!keyIds.includes(id)) unreadable += values;
  tables.push({ ...OF_FILES, values: Object.fromEntries(counts) });
  return { keys: keyIds, unreadable, tables };
}

/** Seals all values with the first key. `complete` is true if no value needs another key. */
export async function reencryptSecrets(context: AdminContext): Promise<object> {
  await insertAuditEntry(context.db, { action: 'secrets.reencrypted', doer: SYSTEM, projectId: null });
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
  const files = openFiles(context.db, context.secretsKeys(), context);
  const resealedFiles = await resealFiles(context.db, files, box.keyId);
  // Count the rest last, because the service has continued to write.
  let left = 0;
  const shown = [];
  for (const { resealed, ...sealed } of tables) {
    const counts = await countByKey(context.db, sealed);
    const others = [...counts].filter(([id]) => id !== box.keyId).map(([, values]) => values);
    const leftHere = others.reduce((sum, values) => sum + values, 0);
    left += leftHere;
    shown.push({ table: sealed.table, column: sealed.column, resealed, left: leftHere });
  }
  const ofFiles = [...(await countCopiesByKey(context.db))].filter(([id]) => id !== box.keyId);
  const leftOfFiles = ofFiles.reduce((sum, [, values]) => sum + values, 0);
  left += leftOfFiles;
  shown.push({ ...OF_FILES, resealed: resealedFiles, left: leftOfFiles });
  return { key: box.keyId, complete: left === 0, left, tables: shown };
}

/** Disables the statement timeout, because a table may be large. */
async function open(context: AdminContext) {
  const box = createSecretBox(context.secretsKeys());
  await sql`SET statement_timeout = 0`.execute(context.db);
  return box;
}
