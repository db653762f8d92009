// The end that nearly every run has, in one statement: it succeeds, and nothing is left open.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { answeredColumns, answeredParent, toAwaitedBy, type Answered } from './child-runs-repository.js';
import { EVENTS, STORED, type ExecutionUpdate, type UpdateOutcome } from './execution-update.js';
import { tellWatchers } from '../watches/tell-watchers.js';
import { webhookEventOf } from '../webhooks/webhook-outbox-repository.js';

/**
 * Returns undefined where the case is another one; nothing is changed then, and `applyExecutionUpdate` takes the long
 * way.
 */
export async function applyCommonUpdate(
  db: Db,
  runId: string,
  update: ExecutionUpdate,
): Promise<UpdateOutcome | undefined> {
  const isPlain = update.status === 'succeed' && update.finished_at === undefined && update.nodes === undefined;
  return isPlain && !update.error ? succeedRun(db, runId, update.sequence) : undefined;
}

async function succeedRun(db: Db, runId: string, sequence: number): Promise<UpdateOutcome | undefined> {
  const { rows } = await sql<Answered>`/* succeed_run */
    WITH changed AS (
      UPDATE runs AS run SET status = 'Succeeded', sequence = ${sequence}, error_code = NULL, error_message = NULL,
        run_finished_at = greatest(run_started_at, now()), updated_at = now(), next_check_at = NULL
      WHERE id = ${runId} AND status = 'In Progress' AND sequence < ${sequence} AND run_started_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM node_results AS node WHERE node.run_id = run.id AND node.status = 'in progress')
        AND NOT EXISTS (
          SELECT path, node_id FROM node_results WHERE run_id = run.id AND NOT is_reused
          EXCEPT SELECT path, node_id FROM billing_transactions WHERE run_id = run.id)
        AND NOT EXISTS (SELECT FROM approval_requests AS asked WHERE asked.run_id = run.id AND asked.status = 'pending')
        AND NOT EXISTS (
          SELECT FROM provider_calls AS call
          WHERE call.project_id = run.project_id AND call.run_id = run.id AND call.reserved_usd IS NOT NULL)
        AND NOT EXISTS (SELECT FROM marketplace_copies AS copy WHERE copy.copy_id = run.workflow_id)
      RETURNING id, workflow_id, project_id, status, purpose, parent_run_id, parent_path, parent_node_id
    ), ${answeredParent}, notified AS (${webhookEventOf(EVENTS.succeed, sql`changed`)})
    SELECT ${answeredColumns}, ${tellWatchers(runId)} FROM changed LEFT JOIN answered ON true`.execute(db);
  const [row] = rows;
  return row && { applied: true, runStatus: STORED.succeed, ...toAwaitedBy(row) };
}
