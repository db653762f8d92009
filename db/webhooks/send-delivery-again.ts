import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { DeliveryListing } from './webhook-deliveries-repository.js';

/** A second request within this time counts as a double click. */
const REPEAT = sql`interval '10 seconds'`;

/**
 * Makes a settled event of the project due again and returns it. Does not change a pending event, or one that was
 * requested again within `REPEAT`, even if that attempt is already over. A concurrent second request waits for the row
 * and finds the change of the first one. Returns undefined if the project has no such event, and `webhook_disabled`,
 * without a change, while the webhook is disabled or has no address. If the webhook is disabled right after this, the
 * attempt drops the event.
 *
 * Later pending events of the same run wait until this one is settled, as they wait for any earlier event.
 */
export function sendDeliveryAgain(
  db: Db,
  projectId: number,
  deliveryId: string,
): Promise<DeliveryListing | 'webhook_disabled' | undefined> {
  return inTransaction(db, async (transaction) => {
    const ofProject = transaction
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('projects', 'projects.id', 'delivery.project_id')
      .where('delivery.id', '=', deliveryId)
      .where('delivery.project_id', '=', projectId)
      .where('projects.deleted_at', 'is', null);
    const found = await ofProject
      .select(sql<boolean>`projects.is_webhook_enabled AND projects.webhook_url <> ''`.as('isActive'))
      .executeTakeFirst();
    if (found === undefined) return undefined;
    if (!found.isActive) return 'webhook_disabled';
    await transaction
      .updateTable('webhook_deliveries')
      .set({
        status: 'pending',
        next_attempt_at: sql<Date>`now()`,
        sent_again_at: sql<Date>`now()`,
        leased_until: null,
      })
      .where('id', '=', deliveryId)
      .where('status', '<>', 'pending')
      .where((eb) => eb.or([eb('sent_again_at', 'is', null), eb('sent_again_at', '<=', sql<Date>`now() - ${REPEAT}`)]))
      .execute();
    return ofProject
      .select(['delivery.id', 'type', 'run_id', 'status', 'attempts', 'response_status', 'error_code'])
      .select(['delivery.created_at', 'next_attempt_at', 'delivered_at'])
      .executeTakeFirst();
  });
}
