// Who may do what in a project. Writer: the API (the creator becomes owner) and the admin commands.
import type { Db } from '../core/client.js';
import { executePrepared } from '../core/statement.js';
import type { Role } from '../core/tables.js';

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

/** The user's memberships in live projects: a stranger's, a deleted and an unknown project are all absent. */
function membershipsOf(db: Db, userId: number) {
  return db
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select(['projects.id as projectId', 'project_members.role'])
    .where('project_members.user_id', '=', userId)
    .where('projects.deleted_at', 'is', null);
}

interface Membership {
  projectId: number;
  role: Role;
}

export function findProjectRole(db: Db, projectId: number, userId: number): Promise<Membership | undefined> {
  return membershipsOf(db, userId).where('projects.id', '=', projectId).executeTakeFirst();
}

/** The same for the project of a workflow that is not archived. */
export async function findWorkflowRole(db: Db, workflowId: number, userId: number): Promise<Membership | undefined> {
  const query = membershipsOf(db, userId)
    .innerJoin('workflows', 'workflows.project_id', 'projects.id')
    .where('workflows.id', '=', workflowId)
    .where('workflows.archived_at', 'is', null);
  const [membership] = await executePrepared(db, 'find_workflow_role', query);
  return membership;
}

/** The same for the project of a run, whatever has become of its workflow. */
export function findRunRole(db: Db, runId: string, userId: number): Promise<Membership | undefined> {
  return membershipsOf(db, userId)
    .innerJoin('runs', 'runs.project_id', 'projects.id')
    .where('runs.id', '=', runId)
    .executeTakeFirst();
}
