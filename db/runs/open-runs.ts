import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { OfWorkflows } from '../workflows/of-workflows.js';

/**
 * Asks every run that is still open to stop; the reconciler tells Temporal. For a workflow or project that is being
 * deleted: nobody could reach its runs any more. Before the row of the project is locked (lock order: run, project).
 */
export async function cancelOpenRuns(db: Db, of: OfWorkflows): Promise<void> {
  await db
    .updateTable('runs')
    .set({ cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, now())`, next_check_at: sql<Date>`now()` })
    .where('projectId' in of ? 'project_id' : 'workflow_id', '=', 'projectId' in of ? of.projectId : of.workflowId)
    .where('status', '=', 'In Progress')
    // Every open run has one, so that the index of those finds them.
    .where('next_check_at', 'is not', null)
    .execute();
}
