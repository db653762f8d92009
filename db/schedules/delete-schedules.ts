// The schedules of a workflow or project go with it; their copies in Temporal are deleted afterwards.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { isOf, type OfWorkflows } from '../workflows/of-workflows.js';

/**
 * In the transaction that deletes the workflow or project: before its open runs are cancelled, since a firing holds the
 * schedule's row until its run is stored (lock order: schedule, run, project), and again under the lock on the project's
 * row, since only then no schedule is added any more.
 */
export async function deleteSchedulesOf(transaction: Db, of: OfWorkflows): Promise<void> {
  await deleteAndRemove(isOf(of)).execute(transaction);
}

/** False when the workflow has no such schedule. */
export async function deleteSchedule(db: Db, workflowId: number, scheduleId: string): Promise<boolean> {
  const { rows } = await deleteAndRemove(sql`id = ${scheduleId} AND workflow_id = ${workflowId}`).execute(db);
  return rows.length > 0;
}

function deleteAndRemove(which: RawBuilder<unknown>) {
  return sql`
    WITH deleted AS (DELETE FROM schedules WHERE ${which} RETURNING id)
    INSERT INTO schedule_removals (schedule_id) SELECT id FROM deleted ON CONFLICT DO NOTHING RETURNING schedule_id`;
}
