import type { Db } from '../core/client.js';

/**
 * Locks the project. Positions inside a project change only under this lock. Lock order: project, then workflows.
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
