// Who may do what in a project. Writer: the API (the creator becomes owner) and the admin commands.
import type { Db } from './client.js';
import type { Role } from './tables.js';

/** Adds the member or changes the role. A project or user that does not exist is a foreign key error. */
export async function setMember(db: Db, projectId: number, userId: number, role: Role): Promise<void> {
  await db
    .insertInto('project_members')
    .values({ project_id: projectId, user_id: userId, role })
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role }))
    .execute();
}

/** False when the user was no member. */
export async function removeMember(db: Db, projectId: number, userId: number): Promise<boolean> {
  const result = await db
    .deleteFrom('project_members')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** The user's role in a live project; undefined for a stranger, a deleted or an unknown project alike. */
export async function findProjectRole(db: Db, projectId: number, userId: number): Promise<Role | undefined> {
  const row = await db
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select('project_members.role')
    .where('project_members.project_id', '=', projectId)
    .where('project_members.user_id', '=', userId)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.role;
}

/** The same for the project of a workflow that is not archived. */
export function findWorkflowRole(
  db: Db,
  workflowId: number,
  userId: number,
): Promise<{ projectId: number; role: Role } | undefined> {
  return db
    .selectFrom('workflows')
    .innerJoin('projects', 'projects.id', 'workflows.project_id')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .select(['workflows.project_id as projectId', 'project_members.role'])
    .where('workflows.id', '=', workflowId)
    .where('workflows.archived_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .where('project_members.user_id', '=', userId)
    .executeTakeFirst();
}

/** The same for the project of a run, whatever has become of its workflow. */
export function findRunRole(
  db: Db,
  runId: string,
  userId: number,
): Promise<{ projectId: number; role: Role } | undefined> {
  return db
    .selectFrom('runs')
    .innerJoin('projects', 'projects.id', 'runs.project_id')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .select(['runs.project_id as projectId', 'project_members.role'])
    .where('runs.id', '=', runId)
    .where('projects.deleted_at', 'is', null)
    .where('project_members.user_id', '=', userId)
    .executeTakeFirst();
}
