// The workflows that drawings of the same project run as sub-workflows.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

/** Those of `workflowIds` that the project has, and that are not archived. */
export async function findCallable(db: Db, projectId: number, workflowIds: number[]): Promise<Set<number>> {
  if (workflowIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('workflows')
    .select('id')
    .where('id', 'in', [...new Set(workflowIds)])
    .where('project_id', '=', projectId)
    .where('archived_at', 'is', null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The bytes of the drawing's JSON text; undefined where the project has no such workflow, or it is archived. */
export async function measureDrawing(db: Db, projectId: number, workflowId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('workflows')
    .select(sql<number>`octet_length(document::text)`.as('bytes'))
    .where('id', '=', workflowId)
    .where('project_id', '=', projectId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return row?.bytes;
}
