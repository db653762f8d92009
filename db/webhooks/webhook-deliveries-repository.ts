// The sender's side of `webhook_deliveries`: claims due events, records the results, and lists the log for members.
import { sql, type Selectable } from 'kysely';
import type { Database, Db } from '../core/client.js';
import type { Tables, WebhookEventType } from '../core/tables.js';
import { dropPendingDeliveries } from './webhook-outbox-repository.js';

/** An attempt to make, with the current settings of the webhook. */
export interface ClaimedDelivery {
  id: string;
  /** Null for an event that is not about a run. */
  run_id: string | null;
  project_id: number;
  type: WebhookEventType;
  payload: string;
  /** Includes this one. */
  attempts: number;
  /** True if a person requested this attempt (`sendDeliveryAgain`), which then has no retries. */
  is_sent_again: boolean;
  /** False if the webhook was disabled, unset or deleted since the event. */
  is_active: boolean;
  webhook_url: string;
  webhook_secret_enc: Buffer | null;
  /** Set only while the previous secret still signs. */
  webhook_previous_secret_enc: Buffer | null;
}

interface ClaimLimits {
  /** Attempts under way in this process, by project. */
  inFlight: ReadonlyMap<number, number>;
  perProject: number;
  total: number;
  leaseSeconds: number;
}

/** `status` is null if the receiver has not answered. */
export interface AttemptResult {
  status: number | null;
  errorCode: string | null;
}

const LISTED = ['id', 'type', 'run_id', 'status', 'attempts', 'response_status', 'error_code'] as const;
const TIMES = ['created_at', 'next_attempt_at', 'delivered_at'] as const;

export type DeliveryListing = Pick<
  Selectable<Tables['webhook_deliveries']>,
  (typeof LISTED)[number] | (typeof TIMES)[number]
>;

/** The number of rows examined in one claim. The next claim finds the others. */
const SCANNED = 500;
/** After the secret was renewed, the previous one signs too for this time. */
const OVERLAP = sql`interval '24 hours'`;

/**
 * Leases due events. If this process dies, the lease expires and the event is sent again under the same id. An event
 * that follows pending ones of its run is postponed: until the next attempt of the earliest, and by a second at least.
 * When an event is settled, the next one of its run becomes due at once.
 */
export async function claimDeliveries(db: Db, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
  const projects = [...limits.inFlight.keys()];
  const counts = [...limits.inFlight.values()];
  const { rows } = await sql<ClaimedDelivery>`
    WITH due AS (
      SELECT delivery.id, delivery.project_id, delivery.ordinal, coalesce(busy.count, 0) AS in_flight,
        (SELECT earlier.next_attempt_at FROM webhook_deliveries AS earlier
         WHERE earlier.run_id = delivery.run_id AND earlier.status = 'pending' AND earlier.ordinal < delivery.ordinal
         ORDER BY earlier.ordinal LIMIT 1) AS blocked_until
      FROM webhook_deliveries AS delivery
      LEFT JOIN unnest(${projects}::integer[], ${counts}::integer[]) AS busy (project_id, count)
        ON busy.project_id = delivery.project_id
      WHERE delivery.status = 'pending' AND delivery.next_attempt_at <= now()
        AND (delivery.leased_until IS NULL OR delivery.leased_until <= now())
        AND coalesce(busy.count, 0) < ${limits.perProject}
      ORDER BY delivery.next_attempt_at, delivery.ordinal
      LIMIT ${SCANNED}
      FOR NO KEY UPDATE OF delivery SKIP LOCKED
    ), put_off AS (
      UPDATE webhook_deliveries AS delivery
      SET next_attempt_at = greatest(due.blocked_until, now() + interval '1 second')
      FROM due WHERE delivery.id = due.id AND due.blocked_until IS NOT NULL
    ), ranked AS (
      SELECT id, ordinal, row_number() OVER (PARTITION BY project_id ORDER BY ordinal) + in_flight AS place
      FROM due WHERE blocked_until IS NULL
    ), taken AS (
      SELECT id FROM ranked WHERE place <= ${limits.perProject} ORDER BY place, ordinal LIMIT ${limits.total}
    )
    UPDATE webhook_deliveries AS delivery
    SET attempts = attempts + 1, leased_until = now() + make_interval(secs => ${limits.leaseSeconds})
    FROM taken, projects AS project
    WHERE delivery.id = taken.id AND project.id = delivery.project_id
    RETURNING delivery.id, delivery.run_id, delivery.project_id, delivery.type, delivery.payload, delivery.attempts,
      delivery.sent_again_at IS NOT NULL AS is_sent_again,
      project.is_webhook_enabled AND project.webhook_url <> '' AND project.deleted_at IS NULL AS is_active,
      project.webhook_url, project.webhook_secret_enc,
      CASE WHEN project.webhook_secret_shown_at > now() - ${OVERLAP}
        THEN project.webhook_previous_secret_enc END AS webhook_previous_secret_enc`.execute(db);
  return rows;
}

/** Accepts a late answer, even if the event was dropped meanwhile, because the event was delivered. */
export function recordDelivered(db: Db, delivery: ClaimedDelivery, result: AttemptResult): Promise<void> {
  return finish(db, delivery, 'delivered', result);
}

/** Ends an event without further retries. */
export function recordFailed(db: Db, delivery: ClaimedDelivery, result: AttemptResult): Promise<void> {
  return finish(db, delivery, 'failed', result);
}

/** Drops the event without sending it, because the webhook is no longer in use. */
export function recordDropped(db: Db, delivery: ClaimedDelivery): Promise<void> {
  return finish(db, delivery, 'dropped', { status: null, errorCode: 'webhook_disabled' });
}

/** Changes nothing if the event was settled, or claimed by another process. */
export async function recordRetry(
  db: Db,
  delivery: ClaimedDelivery,
  result: AttemptResult,
  delaySeconds: number,
): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({
      next_attempt_at: sql<Date>`now() + make_interval(secs => ${delaySeconds})`,
      leased_until: null,
      response_status: result.status,
      error_code: result.errorCode,
    })
    .where('id', '=', delivery.id)
    .where('status', '=', 'pending')
    .where('attempts', '=', delivery.attempts)
    .execute();
}

/**
 * Disables the webhook because the receiver answered 410, and drops its pending events. Returns false, and changes
 * nothing, if the webhook has another address by now. Lock order: project, then deliveries.
 */
export function recordGone(db: Database, delivery: ClaimedDelivery, result: AttemptResult): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const off = await transaction
      .updateTable('projects')
      .set({ is_webhook_enabled: false, updated_at: sql<Date>`now()` })
      .where('id', '=', delivery.project_id)
      .where('webhook_url', '=', delivery.webhook_url)
      .executeTakeFirst();
    if (off.numUpdatedRows === 0n) return false;
    await finish(transaction, delivery, 'failed', result);
    await dropPendingDeliveries(transaction, delivery.project_id);
    return true;
  });
}

/** Newest first. */
export async function listDeliveries(
  db: Db,
  { projectId, limit, offset }: { projectId: number; limit: number; offset: number },
): Promise<{ total: number; deliveries: DeliveryListing[] }> {
  const ofProject = db.selectFrom('webhook_deliveries').where('project_id', '=', projectId);
  const { total } = await ofProject.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (limit === 0 || offset >= total) return { total, deliveries: [] };
  const deliveries = await ofProject
    .select([...LISTED, ...TIMES])
    .orderBy('ordinal', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, deliveries };
}

/** Ends the event and makes the next one of its run due at once, in one statement. */
async function finish(
  db: Db,
  { id, attempts }: ClaimedDelivery,
  status: 'delivered' | 'failed' | 'dropped',
  result: AttemptResult,
): Promise<void> {
  const takes =
    status === 'delivered' ? sql`status IN ('pending', 'dropped')` : sql`status = 'pending' AND attempts = ${attempts}`;
  await sql`
    WITH settled AS (
      UPDATE webhook_deliveries
      SET status = ${status}, next_attempt_at = NULL, leased_until = NULL, response_status = ${result.status},
        error_code = ${result.errorCode},
        delivered_at = CASE WHEN ${status === 'delivered'} THEN clock_timestamp() ELSE delivered_at END
      WHERE id = ${id} AND ${takes}
      RETURNING run_id, ordinal
    )
    UPDATE webhook_deliveries AS following SET next_attempt_at = now()
    WHERE following.status = 'pending' AND following.id = (
      SELECT later.id FROM webhook_deliveries AS later JOIN settled ON settled.run_id = later.run_id
      WHERE later.status = 'pending' AND later.ordinal > settled.ordinal
      ORDER BY later.ordinal LIMIT 1
    )`.execute(db);
}
