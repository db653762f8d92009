// The hooks of a workflow or project go with it.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

/** In the transaction that deletes the workflow or project, under the lock on the project's row. */
export async function deleteHooksOf(
  transaction: Db,
  of: { projectId: number } | { workflowId: number },
): Promise<void> {
  const isDoomed =
    'projectId' in of
      ? sql`workflow_id IN (SELECT id FROM workflows WHERE project_id = ${of.projectId})`
      : sql`workflow_id = ${of.workflowId}`;
  await sql`
    WITH deleted AS (DELETE FROM hooks WHERE ${isDoomed} RETURNING id)
    DELETE FROM hook_windows WHERE hook_id IN (SELECT id FROM deleted)`.execute(transaction);
}
