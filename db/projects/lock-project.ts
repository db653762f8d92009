import type { Db } from '../core/client.js';

/**
 * Locks the project's row until the transaction ends. The positions of its workflows (`sort_id`) change only under this
 * lock. Others take it to count rows of the project, or to exclude its deletion. Lock order: project, then workflows.
 * Returns false if the project is gone.
 */
export async function lockProject(db: Db, projectId: number): Promise<boolean> {
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return project !== undefined;
}
