// Files of projects (docs/use/files.md).
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { containing } from '../core/like-pattern.js';
import type { HolderKind, Tables } from '../core/tables.js';
import { anyOf } from '../core/statement.js';

export interface NewFile {
  id: string;
  projectId: number;
  copyId: string;
  name: string;
  type: string;
  size: number;
  sha256: Buffer;
  runId: string | null;
  userId: number | null;
}

/** A file whose bytes can be read. */
export interface StoredFile {
  id: string;
  projectId: number;
  name: string;
  type: string;
  size: number;
  sha256: Buffer;
  createdAt: Date;
  copyId: string;
  storedAs: string;
  seal: Buffer;
}

export async function insertFile(transaction: Db, file: NewFile): Promise<void> {
  const { id, projectId, copyId, runId, userId, ...facts } = file;
  await transaction
    .insertInto('files')
    .values({ ...facts, id, project_id: projectId, copy_id: copyId, run_id: runId, user_id: userId })
    .execute();
}

/** Returns the files of the project whose bytes are stored, in no particular order. */
export async function findFiles(db: Db, projectId: number, ids: readonly string[]): Promise<StoredFile[]> {
  if (ids.length === 0) return [];
  return selectStored(db)
    .where('files.project_id', '=', projectId)
    .where('files.id', '=', anyOf([...ids]))
    .execute();
}

/** Like `findFiles`, but for files that the run created. */
export async function findFilesOfRun(db: Db, runId: string, ids: readonly string[]): Promise<StoredFile[]> {
  if (ids.length === 0) return [];
  return selectStored(db)
    .where('files.run_id', '=', runId)
    .where('files.id', '=', anyOf([...ids]))
    .execute();
}

/** Finds a file of any project. The caller must check access. */
export async function findFile(db: Db, id: string): Promise<StoredFile | undefined> {
  return selectStored(db).where('files.id', '=', id).executeTakeFirst();
}

function selectStored(db: Db) {
  return db
    .selectFrom('files')
    .innerJoin('file_copies as copy', 'copy.id', 'files.copy_id')
    .select(['files.id', 'files.project_id as projectId', 'files.name', 'files.type', 'files.size', 'files.sha256'])
    .select(['files.created_at as createdAt', 'copy.id as copyId', 'copy.name as storedAs', 'copy.seal']);
}

export interface FileFacts {
  id: string;
  name: string;
  type: string;
  size: number;
  sha256: Buffer;
  createdAt: Date;
  runId: string | null;
  /** The number of references by kind; kinds without references are absent. */
  usedBy: Partial<Record<HolderKind, number>>;
}

export interface FileQuery {
  search: string | undefined;
  ordering: 'size' | '-size' | 'created_at' | '-created_at';
  limit: number;
  offset: number;
}

/** Returns a page of the files of a project without the deleted ones. */
export async function listFiles(
  db: Db,
  projectId: number,
  { search, ordering, limit, offset }: FileQuery,
): Promise<{ total: number; files: FileFacts[] }> {
  const found = db
    .selectFrom('files')
    .where('project_id', '=', projectId)
    .where('copy_id', 'is not', null)
    .$if(search !== undefined, (files) => files.where('name', 'ilike', containing(search!)));
  const column = ordering.endsWith('size') ? 'size' : 'created_at';
  const direction = ordering.startsWith('-') ? 'desc' : 'asc';
  const [{ total }, files] = await Promise.all([
    found.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    selectFacts(found).orderBy(column, direction).orderBy('id', direction).limit(limit).offset(offset).execute(),
  ]);
  return { total, files };
}

export async function findFileFacts(db: Db, id: string): Promise<FileFacts | undefined> {
  return selectFacts(db.selectFrom('files').where('id', '=', id).where('copy_id', 'is not', null)).executeTakeFirst();
}

function selectFacts(files: SelectQueryBuilder<Tables, 'files', object>) {
  return files.select([
    'id',
    'name',
    'type',
    'size',
    'sha256',
    'created_at as createdAt',
    'run_id as runId',
    sql<Partial<Record<HolderKind, number>>>`(
      SELECT coalesce(json_object_agg(kind, count), '{}') FROM (
        SELECT kind, count(*) FROM file_references WHERE file_id = files.id GROUP BY kind
      ) AS holders)`.as('usedBy'),
  ]);
}

/**
 * Deletes the file in a transaction; its row stays while something refers to it. Returns its copy; `in_use` while an
 * open run refers to it; undefined if there is no such file.
 */
export async function deleteFile(transaction: Db, id: string): Promise<{ copyId: string } | 'in_use' | undefined> {
  const file = await transaction
    .selectFrom('files')
    .select('copy_id')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  const copyId = file?.copy_id ?? undefined;
  if (copyId === undefined) return undefined;
  const holding = await sql`
    SELECT FROM file_references JOIN runs ON runs.id = holder::uuid
    WHERE file_id = ${id} AND kind = 'run' AND runs.status = 'In Progress' LIMIT 1`.execute(transaction);
  if (holding.rows.length > 0) return 'in_use';
  await sql`UPDATE files SET copy_id = NULL WHERE id = ${id}`.execute(transaction);
  await sql`DELETE FROM files WHERE ${isUnused} AND id = ${id}`.execute(transaction);
  return { copyId };
}

const isUnused = sql`NOT EXISTS (SELECT FROM file_references WHERE file_id = files.id)`;

export function expiryOf({ createdAt, runId }: FileFacts, retentionDays: number): Date {
  return new Date(createdAt.getTime() + (runId === null ? 1 : retentionDays) * 86_400_000);
}

/**
 * Deletes, in a transaction, the rows of up to `limit` files to which nothing refers and which have expired or were
 * deleted (`deleteFile`). Returns their number and their copies.
 */
export async function deleteUnusedFiles(
  transaction: Db,
  retentionDays: number,
  limit: number,
): Promise<{ deleted: number; copyIds: string[] }> {
  const isDue = sql`created_at < now() - make_interval(hours => 24 * CASE WHEN run_id IS NULL THEN 1 ELSE ${retentionDays}::integer END)`;
  // A transaction that adds a reference holds a KEY SHARE lock on the file's row, and this lock skips such files. The
  // next statement sees everything that was committed before this lock, and so all references to the other files.
  const locked = await sql<{ id: string }>`
    SELECT id FROM files WHERE (${isDue} OR copy_id IS NULL) AND ${isUnused}
    ORDER BY created_at LIMIT ${limit}::integer FOR UPDATE SKIP LOCKED`.execute(transaction);
  const ids = locked.rows.map(({ id }) => id);
  const { rows } = await sql<{ copyId: string | null }>`
    DELETE FROM files WHERE id = ANY (${ids}::uuid[]) AND ${isUnused} RETURNING copy_id AS "copyId"`.execute(
    transaction,
  );
  return { deleted: rows.length, copyIds: rows.flatMap(({ copyId }) => copyId ?? []) };
}
