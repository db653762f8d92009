// References to files, which protect the files from the sweep. They are written in the transaction of the value that
// contains the file; those of a node's result are committed before the result (activities/node/record.ts).
import { sql } from 'kysely';
import { fileIdsIn } from '../../graph/file-values.js';
import type { Db } from '../core/client.js';
import type { Value } from '../core/statement.js';
import type { HolderKind } from '../core/tables.js';

export interface Holder {
  kind: HolderKind;
  /** Its form depends on `kind` (`FileReferences` in db/core/table-types.ts). */
  id: string;
}

export function pinHolder({ workflowId, path, nodeId }: { workflowId: number; path: string; nodeId: string }): Holder {
  return { kind: 'pin', id: `${workflowId}/${path}/${nodeId}` };
}

/**
 * Adds references to those of the files that belong to the project, in the transaction of the value or before it. The
 * rows of the files are locked, so that the sweep deletes none of them before the commit. Ids that name no file of the
 * project are ignored, because they are ordinary text.
 */
export async function addReferences(
  transaction: Db,
  projectId: Value<number>,
  holder: Holder,
  fileIds: readonly string[],
): Promise<void> {
  await refer(transaction, projectId, holder, fileIds);
}

/** A file was deleted after the value that contains it had been checked. A new check finds the deletion. */
class FileGone extends Error {
  override readonly name = 'FileGone';
}

/**
 * Returns undefined for `FileGone` and throws every other error. Handles the error of an attempt that stored nothing:
 * the caller then tries again, and the new attempt finds that the file is gone and reports it.
 */
export function unlessFileGone(error: unknown): undefined {
  if (!(error instanceof FileGone)) throw error;
}

/** `addReferences` to files that the caller has just found. Throws `FileGone` if one of them was deleted since. */
export async function holdFiles(
  transaction: Db,
  projectId: Value<number>,
  holder: Holder,
  fileIds: readonly string[],
): Promise<void> {
  const held = await refer(transaction, projectId, holder, fileIds);
  if (held < new Set(fileIds).size) throw new FileGone('A file was deleted since it was found.');
}

/** Returns how many of the files exist and still have their bytes. */
async function refer(
  transaction: Db,
  projectId: Value<number>,
  holder: Holder,
  fileIds: readonly string[],
): Promise<number> {
  if (fileIds.length === 0) return 0;
  // Lock first: an insert that waits for the deletion of its file would fail.
  const { rows } = await sql<{ held: number }>`
    WITH found AS (
      SELECT id, copy_id FROM files WHERE id = ANY (${fileIds}::uuid[]) AND project_id = ${projectId}
      ORDER BY id FOR KEY SHARE
    ), added AS (
      INSERT INTO file_references (file_id, kind, holder)
      SELECT id, ${holder.kind}, ${holder.id} FROM found ON CONFLICT DO NOTHING
    )
    SELECT count(copy_id)::integer AS held FROM found`.execute(transaction);
  return rows[0]!.held;
}

/** Replaces the references of a holder that belongs to the workflow, in the transaction of the value. */
export async function replaceReferences(
  transaction: Db,
  workflowId: number,
  holder: Holder,
  fileIds: readonly string[],
): Promise<void> {
  const { kind, id } = holder;
  await transaction.deleteFrom('file_references').where('kind', '=', kind).where('holder', '=', id).execute();
  const projectId = sql<number>`(SELECT project_id FROM workflows WHERE id = ${workflowId})`;
  await addReferences(transaction, projectId, holder, fileIds);
}

/** `replaceReferences` with the files in `value`, in the transaction that stores it. */
export function referTo(transaction: Db, workflowId: number, holder: Holder, value: unknown): Promise<void> {
  return replaceReferences(transaction, workflowId, holder, fileIdsIn(value));
}

/**
 * Replaces the references of a drawing (JSON text) in the transaction that stores it. `version` of a draft is `draft/`
 * and the id of its user.
 */
export async function referFromDrawing(
  transaction: Db,
  { workflowId, version, document }: { workflowId: number; version: number | `draft/${number}`; document: string },
): Promise<void> {
  const holder = { kind: 'drawing', id: `${workflowId}/${version}` } as const;
  // Parse only drawings that may contain files, because drawings are large.
  await referTo(transaction, workflowId, holder, document.includes('"file_id"') ? JSON.parse(document) : null);
}

/** Copies the references of a value, in the transaction that copies the value. */
export async function copyReferences(transaction: Db, from: Holder, to: Holder): Promise<void> {
  await sql`
    INSERT INTO file_references (file_id, kind, holder)
    SELECT file_id, ${to.kind}, ${to.id} FROM file_references WHERE kind = ${from.kind} AND holder = ${from.id}
    ON CONFLICT DO NOTHING`.execute(transaction);
}

/**
 * Deletes references in the transaction that deletes a workflow. Schedules delete their own; runs, conversations and
 * their messages keep theirs.
 */
export async function dropReferencesOfWorkflow(transaction: Db, workflowId: number): Promise<void> {
  await sql`
    DELETE FROM file_references
    WHERE (kind IN ('drawing', 'pin') AND holder LIKE ${`${workflowId}/%`})
      OR (kind = 'case' AND holder IN (SELECT id::text FROM cases WHERE workflow_id = ${workflowId}))`.execute(
    transaction,
  );
}

/** Deletes references in the transaction that deletes a project. Runs keep theirs until their results expire. */
export async function dropReferencesOfProject(transaction: Db, projectId: number): Promise<void> {
  await sql`
    DELETE FROM file_references USING files
    WHERE files.id = file_id AND files.project_id = ${projectId} AND kind <> 'run'`.execute(transaction);
}
