import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { dropReferencesOfProject } from '../files/references-repository.js';
import { deleteHooksOf } from '../hooks/hooks-repository.js';
import { cancelOpenRuns } from '../runs/open-runs.js';
import { deleteSchedulesOf } from '../schedules/schedules-repository.js';
import { deleteDraftsOf } from '../workflows/drafts-repository.js';
import { dropPendingDeliveries } from '../webhooks/webhook-outbox-repository.js';

/**
 * Marks the project as deleted. Its row stays, because runs and transactions refer to it, and every read checks
 * `deleted_at`. Requests the cancellation of open runs, drops events that were not delivered yet, and deletes the
 * project's credentials, services, schedules, hooks and drafts. Returns false if there is no such project.
 */
export function deleteProject(db: Db, projectId: number): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    await deleteSchedulesOf(transaction, { projectId });
    await cancelOpenRuns(transaction, { projectId });
    const result = await transaction
      .updateTable('projects')
      .set({
        deleted_at: sql<Date>`now()`,
        updated_at: sql<Date>`now()`,
        is_webhook_enabled: false,
        webhook_secret_enc: null,
        webhook_previous_secret_enc: null,
      })
      .where('id', '=', projectId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) return false;
    await dropPendingDeliveries(transaction, projectId);
    await deleteHooksOf(transaction, { projectId });
    await deleteDraftsOf(transaction, { projectId });
    await dropReferencesOfProject(transaction, projectId);
    // Nothing may use the stored credentials any more.
    await transaction.deleteFrom('connections').where('project_id', '=', projectId).execute();
    await transaction.deleteFrom('provider_keys').where('project_id', '=', projectId).execute();
    await transaction.deleteFrom('services').where('project_id', '=', projectId).execute();
    // Delete the schedules that were created after the first deletion and before the project's row was locked.
    await deleteSchedulesOf(transaction, { projectId });
    return true;
  });
}
