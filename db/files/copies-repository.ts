// The stored copies of files. The row of a copy is inserted before its bytes are written, so that the sweep can remove
// the bytes if the writer dies. Giving up a copy marks its bytes for removal (status `deleting`).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { anyOf } from '../core/statement.js';

/** Writers touch their copy at least every minute. After this time without a touch, the writer counts as dead. */
const WRITER_IS_DEAD_MINUTES = 10;

export interface NewCopy {
  id: string;
  projectId: number;
  name: string;
  seal: Buffer;
}

export async function insertCopy(db: Db, { id, projectId, name, seal }: NewCopy): Promise<void> {
  await db.insertInto('file_copies').values({ id, project_id: projectId, name, seal }).execute();
}

/**
 * Extends the writer's lease and stores the number of written bytes. Returns false if the sweep has given up the copy.
 * Throws PostgreSQL's error if the project would exceed its quota.
 */
export async function touchCopy(db: Db, id: string, bytes: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('file_copies')
    .set({ bytes, touched_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('status', '=', 'writing')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Returns the copy to use for the new file, in the transaction that inserts the file. If the project has already
 * stored the same bytes, that is the existing copy, and the new one is to be deleted. Returns undefined if the sweep
 * has given up the new copy.
 */
export async function settleCopy(
  transaction: Db,
  copy: { id: string; projectId: number; bytes: number; sha256: Buffer },
): Promise<string | undefined> {
  const { id, projectId, bytes, sha256 } = copy;
  await lockBytes(transaction, projectId, sha256);
  const same = await transaction
    .selectFrom('file_copies')
    .select('id')
    .where('project_id', '=', projectId)
    .where('sha256', '=', sha256)
    .where('status', '=', sql.lit('stored'))
    .forKeyShare()
    .executeTakeFirst();
  const { numUpdatedRows } = await transaction
    .updateTable('file_copies')
    .set(same === undefined ? { status: 'stored', bytes, sha256 } : { status: 'deleting', bytes: 0 })
    .where('id', '=', id)
    .where('status', '=', 'writing')
    .executeTakeFirst();
  return numUpdatedRows > 0n ? (same?.id ?? id) : undefined;
}

/**
 * Serializes writers of the same bytes, so that only one of them stores a copy, and no file is added to a copy that is
 * being replaced.
 */
async function lockBytes(transaction: Db, projectId: number, sha256: Buffer): Promise<void> {
  const bytes = `${projectId} ${sha256.toString('hex')}`;
  await sql`SELECT pg_advisory_xact_lock(hashtext('file-copies'), hashtext(${bytes}))`.execute(transaction);
}

/**
 * Replaces an old copy with a newly written one with the same bytes, in a transaction. Returns the id of the new copy.
 * If the old copy is no longer stored or has other bytes, gives up the new copy and returns the id of the old one.
 */
export async function replaceCopy(
  transaction: Db,
  { projectId, copyId: oldId }: { projectId: number; copyId: string },
  { id, size, sha256 }: { id: string; size: number; sha256: Buffer },
): Promise<{ copyId: string; result: undefined }> {
  await lockBytes(transaction, projectId, sha256);
  const old = await transaction
    .updateTable('file_copies')
    .set({ status: 'deleting', bytes: 0 })
    .where('id', '=', oldId)
    .where('status', '=', 'stored')
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  const isWanted = old.numUpdatedRows > 0n;
  const { numUpdatedRows } = await transaction
    .updateTable('file_copies')
    .set(isWanted ? { status: 'stored', bytes: size, sha256 } : { status: 'deleting', bytes: 0 })
    .where('id', '=', id)
    .where('status', '=', 'writing')
    .executeTakeFirst();
  if (isWanted && numUpdatedRows === 0n) throw new Error('the copy of a file was given up');
  if (isWanted) await transaction.updateTable('files').set({ copy_id: id }).where('copy_id', '=', oldId).execute();
  return { copyId: isWanted ? id : oldId, result: undefined };
}

/** Returns the number of stored copies by the hexadecimal id of the key that seals them. */
export async function countCopiesByKey(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ key: string; count: number }>`
    SELECT encode(substr(seal, 1, 4), 'hex') AS key, count(*) AS count FROM file_copies
    WHERE status = 'stored' GROUP BY 1`.execute(db);
  return new Map(rows.map(({ key, count }) => [key, count]));
}

/** Returns stored copies after `after` that are sealed with another key than `keyId`. */
export async function listCopiesOfOtherKeys(db: Db, keyId: string, after: string | undefined, limit: number) {
  return db
    .selectFrom('file_copies')
    .select(['id as copyId', 'project_id as projectId', 'seal', 'name as storedAs', 'bytes as size'])
    .where('status', '=', 'stored')
    .where(sql<boolean>`encode(substr(seal, 1, 4), 'hex') <> ${keyId}`)
    .$if(after !== undefined, (copies) => copies.where('id', '>', after!))
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Gives up a copy whose writer has failed. The sweep removes its bytes, but not before `afterMs`. Returns true if its
 * bytes are to be removed. False if the commit succeeded and only its answer was lost: then a file uses the copy.
 */
export async function giveUpCopy(db: Db, id: string, afterMs: number): Promise<boolean> {
  const due = sql<Date>`clock_timestamp() + make_interval(secs => ${afterMs / 1000}::double precision)`;
  await db
    .updateTable('file_copies')
    .set({ status: 'deleting', bytes: 0, touched_at: due })
    .where('id', '=', id)
    .where('status', '=', 'writing')
    .execute();
  const copy = await db.selectFrom('file_copies').select('status').where('id', '=', id).executeTakeFirst();
  return copy?.status !== 'stored';
}

export async function giveUpDeadCopies(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE file_copies SET status = 'deleting', bytes = 0 WHERE id IN (
      SELECT id FROM file_copies
      WHERE status = 'writing' AND touched_at < now() - make_interval(mins => ${WRITER_IS_DEAD_MINUTES}::integer)
      LIMIT ${limit}::integer FOR NO KEY UPDATE SKIP LOCKED
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Gives up those of the copies that no file uses any more. Requires a transaction. */
export async function giveUpUnusedCopies(transaction: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // A transaction that adds a file to a copy holds a KEY SHARE lock on the copy's row. FOR UPDATE waits for that
  // transaction, and the next statement sees the file.
  await transaction
    .selectFrom('file_copies')
    .select('id')
    .where('id', '=', anyOf([...ids]))
    .where('status', '=', 'stored')
    .orderBy('id')
    .forUpdate()
    .execute();
  await sql`
    UPDATE file_copies SET status = 'deleting', bytes = 0
    WHERE id = ANY (${ids}::uuid[]) AND status = 'stored'
      AND NOT EXISTS (SELECT FROM files WHERE copy_id = file_copies.id)`.execute(transaction);
}

export async function findCopiesToRemove(db: Db, limit: number): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('file_copies')
    .select(['id', 'name'])
    .where('status', '=', 'deleting')
    .where('touched_at', '<=', sql<Date>`clock_timestamp()`)
    .orderBy('touched_at')
    .limit(limit)
    .execute();
}

/** Deletes the row after the bytes were removed. */
export async function forgetCopy(db: Db, id: string): Promise<void> {
  await db.deleteFrom('file_copies').where('id', '=', id).where('status', '=', 'deleting').execute();
}

/** Moves a copy to the end of the queue, because the store failed or was too slow. */
export async function postponeCopy(db: Db, id: string): Promise<void> {
  await db
    .updateTable('file_copies')
    .set({ touched_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .execute();
}

/** Returns the mark of the store that this database belongs to. Sets it to `mark` if there is none. */
export async function adoptStoreMark(db: Db, mark: string): Promise<string> {
  await db
    .insertInto('file_store')
    .values({ mark })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { mark: known } = await db.selectFrom('file_store').select('mark').executeTakeFirstOrThrow();
  return known;
}
