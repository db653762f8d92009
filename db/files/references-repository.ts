// What refers to files. References are written in the transaction of the value that holds the file, and keep the sweep from
// it. Extensions, section 12.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { HolderKind } from '../core/tables.js';

export interface Holder {
  kind: HolderKind;
  /** As in `FileReferencesTable`. */
  id: string;
}

export function drawingHolder(workflowId: number, version: number): Holder {
  return { kind: 'drawing', id: `${workflowId}/${version}` };
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
  projectId: number,
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

/** Within the transaction of a value that replaces another one. */
export async function replaceReferences(
  transaction: Db,
  projectId: number,
  holder: Holder,
  fileIds: readonly string[],
): Promise<void> {
  await dropReferences(transaction, holder);
  await addReferences(transaction, projectId, holder, fileIds);
}

export async function dropReferences(transaction: Db, { kind, id }: Holder): Promise<void> {
  await transaction.deleteFrom('file_references').where('kind', '=', kind).where('holder', '=', id).execute();
}

/** Within the transaction that duplicates a workflow: the other holder refers to the same files. */
export async function copyReferences(transaction: Db, from: Holder, to: Holder): Promise<void> {
  await sql`
    INSERT INTO file_references (file_id, kind, holder)
    SELECT file_id, ${to.kind}, ${to.id} FROM file_references WHERE kind = ${from.kind} AND holder = ${from.id}
    ON CONFLICT DO NOTHING`.execute(transaction);
}
