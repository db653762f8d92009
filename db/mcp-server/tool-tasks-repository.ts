// Runs as tasks of MCP clients. A task belongs to the user of the key that created it.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';
import { isInReach, type Reach } from '../access/reach.js';

export interface ToolTask {
  runId: string;
  workflowId: number;
  status: StoredRunStatus;
  isCancelRequested: boolean;
  errorCode: string | null;
  errorMessage: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Requires the transaction that stores the run. */
export async function insertTask(transaction: Db, task: { runId: string; userId: number }): Promise<void> {
  await transaction.insertInto('tool_tasks').values({ run_id: task.runId, user_id: task.userId }).execute();
}

/**
 * Finds any accepted run of the user whose results have not expired, even if it was not created as a task. Undefined if
 * the user may not run its workflow.
 */
export function findTask(db: Db, reach: Reach, runId: string): Promise<ToolTask | undefined> {
  return runsOf(db, reach).where('run.id', '=', runId).executeTakeFirst();
}

/** Lists runs that were created as tasks, newest first, after the task `after`. */
export function listTasks(
  db: Db,
  reach: Reach,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<ToolTask[]> {
  const place = sql`SELECT earlier.created_at, earlier.run_id FROM tool_tasks AS earlier WHERE earlier.run_id = ${after ?? null}::uuid`;
  return runsOf(db, reach)
    .innerJoin('tool_tasks as task', 'task.run_id', 'run.id')
    .where('task.user_id', '=', reach.userId)
    .$if(after !== undefined, (query) => query.where(sql<boolean>`(task.created_at, task.run_id) < (${place})`))
    .orderBy('task.created_at', 'desc')
    .orderBy('task.run_id', 'desc')
    .limit(limit)
    .execute();
}

function runsOf(db: Db, reach: Reach) {
  return db
    .selectFrom('runs as run')
    .innerJoin('projects', 'projects.id', 'run.project_id')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .select(['run.id as runId', 'run.workflow_id as workflowId', 'run.status', 'run.created_at as createdAt'])
    .select(['run.error_code as errorCode', 'run.error_message as errorMessage', 'run.updated_at as updatedAt'])
    .select(sql<boolean>`run.cancel_requested_at IS NOT NULL`.as('isCancelRequested'))
    .where('run.user_id', '=', reach.userId)
    .where('run.status', '!=', 'Draft')
    .where('run.results_expired_at', 'is', null)
    .where('project_members.user_id', '=', reach.userId)
    .where('project_members.role', '!=', 'viewer')
    .where('projects.deleted_at', 'is', null)
    .where(isInReach('projects.id', reach));
}
