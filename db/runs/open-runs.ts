import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { OfWorkflows } from '../workflows/of-workflows.js';

/**
 * Requests the cancellation of all open runs of a workflow or project that is being deleted, because nobody
 * could reach them any more. The reconciler cancels them in Temporal. Call it before locking the project's row
 * (lock order: run, project). Locks a parent before its children, as the end of a parent does.
 */
export async function cancelOpenRuns(db: Db, of: OfWorkflows): Promise<void> {
  await db
    .with('open', (open) =>
      open
        .selectFrom('runs')
        .select('id')
        .where('projectId' in of ? 'project_id' : 'workflow_id', '=', 'projectId' in of ? of.projectId : of.workflowId)
        .where('status', '=', 'In Progress')
        // Always true for open runs. It lets the planner use the partial index.
        .where('next_check_at', 'is not', null)
        .orderBy('depth')
        .orderBy('id')
        .forNoKeyUpdate(),
    )
    .updateTable('runs')
    .from('open')
    .set({ cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, now())`, next_check_at: sql<Date>`now()` })
    .whereRef('runs.id', '=', 'open.id')
    .execute();
}
