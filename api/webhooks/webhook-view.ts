import { z } from 'zod';
import type { DeliveryListing } from '../../db/webhooks/webhook-deliveries-repository.js';

export const deliverySchema = z.object({
  id: z.uuid().describe('The `webhook-id` of every attempt.'),
  type: z.string(),
  run_id: z.uuid().nullable().describe('Null for an event of the project'),
  status: z.enum(['pending', 'delivered', 'failed', 'dropped']),
  attempts: z.int(),
  response_status: z.int().nullable().describe('Of the last attempt; null when it got no answer.'),
  error: z.string().nullable().describe('Why the last attempt failed, as a word.'),
  created_at: z.iso.datetime(),
  next_attempt_at: z.iso.datetime().nullable(),
  delivered_at: z.iso.datetime().nullable(),
});

/** An entry of the delivery log, without payload and address. */
export function toDelivery(row: DeliveryListing): z.infer<typeof deliverySchema> {
  const { id, type, run_id, status, attempts, response_status, error_code } = row;
  return {
    id,
    type,
    run_id,
    status,
    attempts,
    response_status,
    error: error_code,
    created_at: row.created_at.toISOString(),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    delivered_at: row.delivered_at?.toISOString() ?? null,
  };
}
