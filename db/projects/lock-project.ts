import type { Db } from '../core/client.js';

/** Positions inside a project change under its row lock only. Lock order: project, then workflows. */
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
