// Answers of people to human tasks. The lock on the task's row serializes them, so that of concurrent answers exactly
// as many are counted as the task needs.
import { sql } from 'kysely';
import { holdFiles } from '../files/references-repository.js';
import { keyColumns } from '../nodes/key-columns.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { notifyWatchers } from '../watches/notify-watchers.js';

export interface NewAnswer {
  taskId: string;
  userId: number;
  action: string;
  /** JSON text, secrets masked. */
  entered: string;
  enteredEnc: Buffer | null;
  /** The files in the entered values. */
  fileIds: readonly string[];
  comment: string;
}

/** `kept`: more people must choose the same action. `settled`: this answer has settled the task. */
export type AnswerOutcome =
  | { status: 'kept' | 'closed' | 'repeated' | 'unknown' }
  | { status: 'settled'; wait: NodeKey };

/**
 * `closed`: the task was settled before, has expired, or its run has ended. `repeated`: the person has already
 * answered. If the process dies after the commit and before the signal, the signal is sent later
 * (`claimUndeliveredWakes`).
 */
export async function storeAnswer(db: Db, answer: NewAnswer): Promise<AnswerOutcome> {
  const { taskId, userId, action } = answer;
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<NodeKey & { isOpen: boolean; required: number }>`
      SELECT run_id AS "runId", path, node_id AS "nodeId", required,
        status = 'pending' AND expires_at > clock_timestamp() AS "isOpen"
      FROM human_tasks WHERE task_id = ${taskId} FOR UPDATE`.execute(trx);
    const [task] = rows;
    if (task === undefined) return { status: 'unknown' };
    if (!task.isOpen) return { status: 'closed' };
    const { entered, enteredEnc, comment } = answer;
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('human_answers')
      .values({ task_id: taskId, user_id: userId, action, entered, entered_enc: enteredEnc, comment })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) return { status: 'repeated' };
    const { runId, path, nodeId } = task;
    const projectId = sql<number>`(SELECT project_id FROM runs WHERE id = ${runId})`;
    await holdFiles(trx, projectId, { kind: 'run', id: runId }, answer.fileIds);
    const settled = await sql`
      UPDATE human_tasks SET status = 'answered', action = ${action}, settled_at = clock_timestamp()
      WHERE task_id = ${taskId}
        AND required <= (SELECT count(*) FROM human_answers WHERE task_id = ${taskId} AND action = ${action})
      RETURNING ${notifyWatchers(runId)}`.execute(trx);
    if (settled.rows.length === 0) {
      await sql`UPDATE human_tasks SET counted = counted + 1 WHERE task_id = ${taskId}
        RETURNING ${notifyWatchers(runId)}`.execute(trx);
      return { status: 'kept' };
    }
    const wait = { runId, path, nodeId };
    await trx
      .updateTable('waits')
      .set({ answered_at: sql`clock_timestamp()` })
      .where((row) => row.and({ ...keyColumns(wait), call: 0 }))
      .execute();
    return { status: 'settled', wait };
  });
}
