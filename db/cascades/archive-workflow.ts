import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { dropReferencesOfWorkflow } from '../files/references-repository.js';
import { deleteHooksOf } from '../hooks/hooks-repository.js';
import { cancelOpenRuns } from '../runs/open-runs.js';
import { deleteSchedulesOf } from '../schedules/schedules-repository.js';
import { lockProject } from '../projects/lock-project.js';
import { deleteDraftsOf } from '../workflows/drafts-repository.js';

/** Hides the workflow from every read; the row stays for its runs. The workflows after it in the project move up. */
export function archiveWorkflow(db: Db, projectId: number, workflowId: number): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    await deleteSchedulesOf(transaction, { workflowId });
    await cancelOpenRuns(transaction, { workflowId });
    await lockProject(transaction, projectId);
    const archived = await transaction
      .updateTable('workflows')
      .set({ archived_at: sql<Date>`now()`, updated_at: sql<Date>`now()`, is_published: false })
      .where('id', '=', workflowId)
      .where('archived_at', 'is', null)
      .returning('sort_id')
      .executeTakeFirst();
    if (archived === undefined) return false;
    // Not before the update has locked the workflow's row: a save under way would add references afterwards.
    await dropReferencesOfWorkflow(transaction, workflowId);
    await deleteHooksOf(transaction, { workflowId });
    await deleteDraftsOf(transaction, { workflowId });
    // Deletes the schedules that were created since the first deletion.
    await deleteSchedulesOf(transaction, { workflowId });
    await transaction
      .updateTable('workflows')
      .set((eb) => ({ sort_id: eb('sort_id', '-', 1) }))
      .where('project_id', '=', projectId)
      .where('archived_at', 'is', null)
      .where('sort_id', '>', archived.sort_id)
      .execute();
    return true;
  });
}
