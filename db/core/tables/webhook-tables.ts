// The outbox of webhook events.
import type { Generated } from 'kysely';

export type WebhookEventType =
  | 'workflow_run.started'
  | 'workflow_run.succeeded'
  | 'workflow_run.failed'
  | 'workflow_run.cancelled'
  | 'agent_approval.requested'
  | 'human_task.requested'
  | 'connection.needs_authorization'
  | 'project.budget_reached';
/** `failed`: given up after the last attempt. `dropped`: the webhook was switched off, unset or deleted first. */
type WebhookDeliveryStatus = 'pending' | 'delivered' | 'failed' | 'dropped';

/**
 * Writers: whoever writes an event (`enqueueWebhookEvent`, and the function `tell_budget_reached`; insert only), and
 * webhook delivery in the API.
 */
export interface WebhookDeliveriesTable {
  /** The `webhook-id` of every attempt. */
  id: Generated<string>;
  /** The order of a run's events: given under the run's row lock, so that it is also the order of the commits. */
  ordinal: Generated<number>;
  project_id: number;
  /** Null for an event of the project. */
  run_id: string | null;
  type: WebhookEventType;
  payload: string;
  status: Generated<WebhookDeliveryStatus>;
  /** Attempts that have begun. */
  attempts: Generated<number>;
  /** The status of the last attempt; null if it got no answer. */
  response_status: number | null;
  /** Why the last attempt failed, or why the event was dropped. */
  error_code: string | null;
  created_at: Generated<Date>;
  /** Null once the event is settled. */
  next_attempt_at: Date | null;
  /** An attempt is under way until then; later its process counts as dead. */
  leased_until: Date | null;
  /** The time of the attempt that succeeded. */
  delivered_at: Date | null;
  /**
   * The time when a person last asked to send the settled event again: one more attempt is made then, without retries.
   */
  sent_again_at: Date | null;
}
