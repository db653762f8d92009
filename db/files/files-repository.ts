// Files of projects (docs/use/files.md).
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { containing } from '../core/like-pattern.js';
import type { HolderKind, Tables } from '../core/tables.js';

export interface NewFile {
  /** UUID. */
  id: string;
  projectId: number;
  copyId: string;
  name: string;
  type: string;
  size: number;
  sha256: Buffer;
  /** The run that has made it. */
  runId: string | null;
  /** Who has uploaded it. */
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
  /** The name of the bytes in the store. */
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

/** Returns those of the files that the project has and whose bytes are there, in no order. */
export async function findFiles(db: Db, projectId: number, ids: readonly string[]): Promise<StoredFile[]> {
  if (ids.length === 0) return [];
  return selectStored(db)
    .where('files.project_id', '=', projectId)
    .where('files.id', 'in', [...ids])
    .execute();
}

/** Returns those of the files that the run has made, in no order. */
export async function findFilesOfRun(db: Db, runId: string, ids: readonly string[]): Promise<StoredFile[]> {
  if (ids.length === 0) return [];
  return selectStored(db)
    .where('files.run_id', '=', runId)
    .where('files.id', 'in', [...ids])
    .execute();
}

/** Returns the file of any project. The caller checks who may read it. */
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
  /** How many refer to it, by kind. Kinds without any are not in it. */
  usedBy: Partial<Record<HolderKind, number>>;
}

export interface FileQuery {
  search: string | undefined;
  ordering: 'size' | '-size' | 'created_at' | '-created_at';
  limit: number;
  offset: number;
}

/** Returns one page of the files of a project, without the deleted ones. */
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
 * Within a transaction: deletes the file. Its row stays while something refers to it. Returns `in_use` while a run in
 * flight holds it, undefined where there is no such file, else the copy that it had.
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

/** The time at which a file that nothing refers to goes. */
export function expiryOf({ createdAt, runId }: FileFacts, retentionDays: number): Date {
  return new Date(createdAt.getTime() + (runId === null ? 1 : retentionDays) * 86_400_000);
}

/**
 * Within a transaction: deletes up to `limit` files that nothing refers to, and whose time has come. Returns how many, and
 * the copies that they had.
 */
export async function deleteUnusedFiles(
  transaction: Db,
  retentionDays: number,
  limit: number,
): Promise<{ deleted: number; copyIds: string[] }> {
  const isDue = sql`created_at < now() - make_interval(hours => 24 * CASE WHEN run_id IS NULL THEN 1 ELSE ${retentionDays}::integer END)`;
  // Whoever adds a reference holds the key of the file. The lock passes over those, and the next statement, which sees what
  // was committed before the lock, finds the references of all others.
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
