// Service-wide figures for metrics. Each comes from a small index or a table that stays small.
import { sql } from 'kysely';
import type { Database } from '../core/client.js';
import { countExpirableRuns } from '../retention/retention-repository.js';

export interface ServiceFigures {
  openRuns: number;
  /** Seconds since the oldest run that has not started was accepted or left its queue; 0 if there is none. */
  unstartedAgeSeconds: number;
  stuckRuns: number;
  pendingApprovals: number;
  pendingWebhooks: number;
  /** Seconds since the oldest undelivered event was written or requested again; 0 if there is none. */
  webhookAgeSeconds: number;
  /** Seconds since the longest overdue event became due; 0 if none is due. */
  webhookDueSeconds: number;
  billedUsd: number;
  expirableRuns: number;
}

/**
 * A run of a conversation may have been queued. Until its start, only leaving the queue, a cancellation and a change of
 * its flags (`setRunFlag`) set its `updated_at`.
 */
const startableSince = sql`CASE WHEN conversation_id IS NULL THEN created_at ELSE updated_at END`;

const COUNTED_UP_TO = 10_000;

/** Throws if one of its statements takes longer than a second. */
export function readServiceFigures(db: Database, retentionDays: number): Promise<ServiceFigures> {
  return db.transaction().execute(async (trx) => {
    await sql`SELECT set_config('statement_timeout', '1s', true)`.execute(trx);
    const { rows } = await sql<Omit<ServiceFigures, 'expirableRuns'>>`
      SELECT open.*, approvals.*, webhooks.*,
        (SELECT count(*) FROM runs WHERE status = 'In Progress' AND stuck_since IS NOT NULL) AS "stuckRuns",
        (SELECT coalesce(sum(total_spent_usd), 0)::float8 FROM projects) AS "billedUsd"
      FROM (
        SELECT count(*) AS "openRuns",
          coalesce(extract(epoch FROM now() - min(${startableSince}) FILTER (WHERE run_started_at IS NULL AND NOT is_queued)), 0)::float8
            AS "unstartedAgeSeconds"
        FROM runs WHERE status = 'In Progress' AND next_check_at IS NOT NULL
      ) AS open, (
        SELECT count(*) FILTER (WHERE expires_at > now()) AS "pendingApprovals"
        FROM approval_requests WHERE status = 'pending'
      ) AS approvals, (
        SELECT count(*) AS "pendingWebhooks",
          coalesce(extract(epoch FROM now() - min(coalesce(sent_again_at, created_at))), 0)::float8
            AS "webhookAgeSeconds",
          coalesce(extract(epoch FROM now() - min(next_attempt_at) FILTER (WHERE next_attempt_at <= now())), 0)::float8
            AS "webhookDueSeconds"
        FROM webhook_deliveries WHERE status = 'pending'
      ) AS webhooks`.execute(trx);
    return { ...rows[0]!, expirableRuns: await countExpirableRuns(trx, retentionDays, COUNTED_UP_TO) };
  });
}
