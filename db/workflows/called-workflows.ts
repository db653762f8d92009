// The workflows that drawings of the same project call as sub-workflows.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { anyOf } from '../core/statement.js';

/** Returns the titles of the workflows among `workflowIds` that belong to the project and are not archived. */
export async function findCallable(db: Db, projectId: number, workflowIds: number[]): Promise<Map<number, string>> {
  if (workflowIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('workflows')
    .select(['id', 'title'])
    .where('id', '=', anyOf([...new Set(workflowIds)]))
    .where('project_id', '=', projectId)
    .where('archived_at', 'is', null)
    .execute();
  return new Map(rows.map(({ id, title }) => [id, title]));
}

/** Returns the size of the drawing as JSON text; undefined if the project has no such workflow, or it is archived. */
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
