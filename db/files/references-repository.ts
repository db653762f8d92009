// What refers to files. References are written in the transaction of the value that holds the file, and keep the sweep from
// it.
import { sql } from 'kysely';
import { fileIdsIn } from '../../graph/file-values.js';
import type { Db } from '../core/client.js';
import type { Value } from '../core/statement.js';
import type { HolderKind } from '../core/tables.js';

export interface Holder {
  kind: HolderKind;
  /** As in `FileReferencesTable`. */
  id: string;
}

export function pinHolder({ workflowId, path, nodeId }: { workflowId: number; path: string; nodeId: string }): Holder {
  return { kind: 'pin', id: `${workflowId}/${path}/${nodeId}` };
}

/**
 * Within the transaction of the value: adds references to those of the files that the project has. The lock of the foreign
 * key keeps the sweep from them until the commit. Other ids are plain text, and nothing happens.
 */
export async function addReferences(
  transaction: Db,
  projectId: Value<number>,
  holder: Holder,
  fileIds: readonly string[],
): Promise<void> {
  if (fileIds.length === 0) return;
  // The lock comes first: an insert that waits for the deletion of its file would fail.
  await sql`
    WITH found AS (
      SELECT id FROM files WHERE id = ANY (${fileIds}::uuid[]) AND project_id = ${projectId} ORDER BY id FOR KEY SHARE
    )
    INSERT INTO file_references (file_id, kind, holder)
    SELECT id, ${holder.kind}, ${holder.id} FROM found ON CONFLICT DO NOTHING`.execute(transaction);
}

/** Within the transaction that gives the holder, which belongs to the workflow, other files. */
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

/** Within the transaction that stores `value` for the holder, in place of what it may have had before. */
export function referTo(transaction: Db, workflowId: number, holder: Holder, value: unknown): Promise<void> {
  return replaceReferences(transaction, workflowId, holder, fileIdsIn(value));
}

/** Within the transaction that stores a drawing: refers to the files that it holds. `document`: JSON text. */
export async function referFromDrawing(
  transaction: Db,
  { workflowId, version, document }: { workflowId: number; version: number; document: string },
): Promise<void> {
  const holder = { kind: 'drawing', id: `${workflowId}/${version}` } as const;
  // Most drawings hold none, and large ones are not parsed for nothing.
  await referTo(transaction, workflowId, holder, document.includes('"file_id"') ? JSON.parse(document) : null);
}

/** Within the transaction that copies a value: the other holder refers to the same files. */
export async function copyReferences(transaction: Db, from: Holder, to: Holder): Promise<void> {
  await sql`
    INSERT INTO file_references (file_id, kind, holder)
    SELECT file_id, ${to.kind}, ${to.id} FROM file_references WHERE kind = ${from.kind} AND holder = ${from.id}
    ON CONFLICT DO NOTHING`.execute(transaction);
}

/** Within the transaction that deletes a workflow. Its schedules go with their references, and its runs keep theirs. */
export async function dropReferencesOfWorkflow(transaction: Db, workflowId: number): Promise<void> {
  await sql`
    DELETE FROM file_references
    WHERE (kind IN ('drawing', 'pin') AND holder LIKE ${`${workflowId}/%`})
      OR (kind = 'case' AND holder IN (SELECT id::text FROM cases WHERE workflow_id = ${workflowId}))`.execute(
    transaction,
  );
}

/** Within the transaction that deletes a project. Its runs keep what they refer to until their results expire. */
export async function dropReferencesOfProject(transaction: Db, projectId: number): Promise<void> {
  await sql`
    DELETE FROM file_references USING files
    WHERE files.id = file_id AND files.project_id = ${projectId} AND kind <> 'run'`.execute(transaction);
}
