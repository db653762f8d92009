// The roles of users in projects. Writers: the API (member-changes.ts; the creator becomes owner) and
// the admin commands.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import type { Role } from '../core/tables.js';
import { isInReach, isVisibleTo, type Reach } from '../access/reach.js';

/** Adds the member or changes the role. Throws a foreign key error if the project or user does not exist. */
export async function setMember(db: Db, projectId: number, userId: number, role: Role): Promise<void> {
  await db
    .insertInto('project_members')
    .values({ project_id: projectId, user_id: userId, role })
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role }))
    .execute();
}

/** Also deletes the drafts of the member. Requires a transaction. */
export async function removeMember(transaction: Db, projectId: number, userId: number): Promise<boolean> {
  // Delete the membership first: the statement waits for transactions that store a draft (`lockDraft`), and the
  // statements below then find these drafts.
  const result = await transaction
    .deleteFrom('project_members')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  for (const table of ['workflow_drafts', 'answer_baselines']) {
    await sql`
      DELETE FROM ${sql.table(table)}
      WHERE user_id = ${userId} AND workflow_id IN (SELECT id FROM workflows WHERE project_id = ${projectId})`.execute(
      transaction,
    );
  }
  return result.numDeletedRows > 0n;
}

type MemberListing = InferResult<ReturnType<typeof membersOf>>[number];

/** Lists the members in the order in which they joined. */
export async function listMembers(
  db: Db,
  { projectId, limit, offset }: { projectId: number; limit: number; offset: number },
): Promise<{ total: number; members: MemberListing[] }> {
  const { total } = await db
    .selectFrom('project_members')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow();
  const members = await membersOf(db, projectId)
    .orderBy('project_members.created_at')
    .orderBy('users.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, members };
}

export function findMember(db: Db, projectId: number, userId: number): Promise<MemberListing | undefined> {
  return membersOf(db, projectId).where('users.id', '=', userId).executeTakeFirst();
}

function membersOf(db: Db, projectId: number) {
  return db
    .selectFrom('project_members')
    .innerJoin('users', 'users.id', 'project_members.user_id')
    .select(['users.id as user_id', 'users.name', 'users.email', 'project_members.role'])
    .where('project_members.project_id', '=', projectId);
}

/** The user's memberships in live projects in reach. Unknown, deleted and other people's projects are absent alike. */
function membershipsOf(db: Db, reach: Reach) {
  return db
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select(['projects.id as projectId', 'project_members.role'])
    .where('project_members.user_id', '=', reach.userId)
    .where('projects.deleted_at', 'is', null)
    .where(isInReach('projects.id', reach));
}

type Membership = InferResult<ReturnType<typeof membershipsOf>>[number];

export function findProjectRole(db: Db, projectId: number, reach: Reach): Promise<Membership | undefined> {
  return membershipsOf(db, reach).where('projects.id', '=', projectId).executeTakeFirst();
}

/**
 * Returns undefined for an archived workflow, and for a request about a run that the user may not see (`isVisibleTo`).
 */
export function findWorkflowRole(
  db: Db,
  workflowId: number,
  reach: Reach,
  runId?: string,
): Promise<Membership | undefined> {
  const isHidden = sql<boolean>`EXISTS (
    SELECT FROM runs WHERE runs.id = ${runId} AND NOT ${isVisibleTo('runs', reach.userId)})`;
  return membershipsOf(db, reach)
    .innerJoin('workflows', 'workflows.project_id', 'projects.id')
    .where('workflows.id', '=', workflowId)
    .where('workflows.archived_at', 'is', null)
    .$if(runId !== undefined, (role) => role.where(sql<boolean>`NOT ${isHidden}`))
    .executeTakeFirst();
}

export function findFileRole(db: Db, fileId: string, reach: Reach): Promise<Membership | undefined> {
  return membershipsOf(db, reach)
    .innerJoin('files', 'files.project_id', 'projects.id')
    .where('files.id', '=', fileId)
    .executeTakeFirst();
}

/** Also finds runs of archived workflows. */
export function findRunRole(db: Db, runId: string, reach: Reach): Promise<Membership | undefined> {
  return membershipsOf(db, reach)
    .innerJoin('runs', 'runs.project_id', 'projects.id')
    .where('runs.id', '=', runId)
    .where(isVisibleTo('runs', reach.userId))
    .executeTakeFirst();
}
