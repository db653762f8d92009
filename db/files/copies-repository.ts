// The stored copies of files. A copy is written under a row of its own, which tells the sweep what to remove if the writer
// dies.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

/** A writer touches its copy at least every minute. One that has not done so for this long has died. */
const WRITER_IS_DEAD_MINUTES = 10;

export interface NewCopy {
  /** UUID. */
  id: string;
  projectId: number;
  name: string;
  seal: Buffer;
}

export async function insertCopy(db: Db, { id, projectId, name, seal }: NewCopy): Promise<void> {
  await db.insertInto('file_copies').values({ id, project_id: projectId, name, seal }).execute();
}

/**
 * Says that the writer is alive, and counts what it has written. Returns false where the sweep has given the copy up. Throws
 * PostgreSQL's refusal where the project would store more than it may.
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
 * Within the transaction that inserts the file: returns the copy that has its bytes, which is another one if the project
 * has stored the same bytes before. The new copy is then to be deleted. Returns undefined where the sweep has given it up.
 */
export async function settleCopy(
  transaction: Db,
  copy: { id: string; projectId: number; bytes: number; sha256: Buffer },
): Promise<string | undefined> {
  const { id, projectId, bytes, sha256 } = copy;
  // Two that store the same bytes at once wait for each other here.
  await sql`SELECT pg_advisory_xact_lock(hashtext('file-copies'), hashtext(${`${projectId} ${sha256.toString('hex')}`}))`.execute(
    transaction,
  );
  const same = await transaction
    .selectFrom('file_copies')
    .select('id')
    .where('project_id', '=', projectId)
    .where('sha256', '=', sha256)
    .where('status', '=', 'stored')
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
 * Within a transaction: the written copy takes the place of another one with the same bytes. Returns which of them counts:
 * the new one has no place where the other is not stored any more, or has other bytes.
 */
export async function replaceCopy(
  transaction: Db,
  oldId: string,
  { id, size, sha256 }: { id: string; size: number; sha256: Buffer },
): Promise<{ copyId: string; result: undefined }> {
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

/** How many stored copies each key seals, by its id in hexadecimal. */
export async function countCopiesByKey(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ key: string; count: number }>`
    SELECT encode(substr(seal, 1, 4), 'hex') AS key, count(*) AS count FROM file_copies
    WHERE status = 'stored' GROUP BY 1`.execute(db);
  return new Map(rows.map(({ key, count }) => [key, count]));
}

/** Returns stored copies that another key than the given one seals, behind `after`. */
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
 * Gives a copy up whose writer has failed. Returns whether its bytes are to be removed. They are not where a commit has
 * succeeded whose answer was lost: then a file has them.
 */
export async function giveUpCopy(db: Db, id: string): Promise<boolean> {
  await db
    .updateTable('file_copies')
    .set({ status: 'deleting', bytes: 0 })
    .where('id', '=', id)
    .where('status', '=', 'writing')
    .execute();
  const copy = await db.selectFrom('file_copies').select('status').where('id', '=', id).executeTakeFirst();
  return copy?.status !== 'stored';
}

/** Gives up what writers that died have left. */
export async function giveUpDeadCopies(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE file_copies SET status = 'deleting', bytes = 0 WHERE id IN (
      SELECT id FROM file_copies
      WHERE status = 'writing' AND touched_at < now() - make_interval(mins => ${WRITER_IS_DEAD_MINUTES}::integer)
      LIMIT ${limit}::integer FOR NO KEY UPDATE SKIP LOCKED
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Within a transaction: of these copies, gives up those that no file has any more. */
export async function giveUpUnusedCopies(transaction: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // Whoever gives a copy to a new file holds its key. The lock waits for them, and the next statement sees their file.
  await transaction
    .selectFrom('file_copies')
    .select('id')
    .where('id', 'in', [...ids])
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
    .orderBy('touched_at')
    .limit(limit)
    .execute();
}

/** The bytes are gone. */
export async function forgetCopy(db: Db, id: string): Promise<void> {
  await db.deleteFrom('file_copies').where('id', '=', id).where('status', '=', 'deleting').execute();
}

/** The store has been found broken or slow. The copy is tried again after the others. */
export async function postponeCopy(db: Db, id: string): Promise<void> {
  await db
    .updateTable('file_copies')
    .set({ touched_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .execute();
}

/** Returns the mark of the store that this database belongs to, which becomes `mark` where it has none yet. */
export async function adoptStoreMark(db: Db, mark: string): Promise<string> {
  await db
    .insertInto('file_store')
    .values({ mark })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { mark: known } = await db.selectFrom('file_store').select('mark').executeTakeFirstOrThrow();
  return known;
}
