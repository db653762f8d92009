// Writes webhook events in the transaction of the change that they report.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { WebhookEventType } from '../core/tables.js';

interface WebhookEvent {
  type: WebhookEventType;
  runId: string;
}

/**
 * Stores an event for the project's webhook. Must be called in the transaction of the event, after the change of the
 * run's status, so that the event is sent if and only if the change is committed. Writes nothing if the project has no
 * enabled webhook, for a run of the assistant in the editor, and for a request to people if the run has ended.
 *
 * Takes the run's row lock, so that the events of a run are numbered in the order of their commits.
 */
export async function enqueueWebhookEvent(trx: Db, { type, runId }: WebhookEvent): Promise<void> {
  await sql`
    WITH changed AS (
      SELECT id, workflow_id, project_id, status, purpose FROM runs
      WHERE id = ${runId} AND status <> 'Draft'
        AND (status = 'In Progress' OR ${type}::text NOT IN ('agent_approval.requested', 'human_task.requested'))
      FOR NO KEY UPDATE
    )
    ${webhookEventOf(type, sql`changed`)}`.execute(trx);
}

/**
 * The insert of an event for each row of `runs` (id, workflow_id, project_id, status, purpose). There is none for a run
 * of the assistant in the editor, which its user alone may see. The transaction must hold the locks of these runs.
 */
export function webhookEventOf(type: WebhookEventType, runs: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO webhook_deliveries (project_id, run_id, type, payload)
    SELECT run.project_id, run.id, ${type}, format(
      '{"type":"%s","timestamp":"%s","data":{"run_id":"%s","workflow_id":%s,"project_id":%s,"status":"%s"%s}}',
      ${type}::text, to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      run.id, run.workflow_id, run.project_id, run.status,
      CASE run.purpose WHEN 'run' THEN '' ELSE format(',"purpose":"%s"', run.purpose) END)
    FROM ${runs} AS run JOIN projects AS project ON project.id = run.project_id
    WHERE project.is_webhook_enabled AND project.webhook_url <> '' AND project.deleted_at IS NULL
      AND run.purpose <> 'assistant'`;
}

/** The insert of the event that a connection needs a new sign-in. */
export function webhookEventOfConnection(connectionId: number): RawBuilder<unknown> {
  const type: WebhookEventType = 'connection.needs_authorization';
  return sql`
    INSERT INTO webhook_deliveries (project_id, type, payload)
    SELECT project.id, ${type}, format(
      '{"type":"%s","timestamp":"%s","data":{"connection_id":%s,"project_id":%s}}',
      ${type}::text, to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), connection.id, project.id)
    FROM connections AS connection JOIN projects AS project ON project.id = connection.project_id
    WHERE connection.id = ${connectionId}
      AND project.is_webhook_enabled AND project.webhook_url <> '' AND project.deleted_at IS NULL`;
}

/**
 * Drops pending events when a webhook is disabled, unset or deleted. The caller must have locked the project's row.
 * Locks the rows in the order of `ordinal`, as `finish` does (webhook-deliveries-repository.ts).
 */
export async function dropPendingDeliveries(trx: Db, projectId: number): Promise<void> {
  await sql`
    WITH open AS (
      SELECT id FROM webhook_deliveries WHERE project_id = ${projectId} AND status = 'pending'
      ORDER BY ordinal FOR NO KEY UPDATE
    )
    UPDATE webhook_deliveries AS delivery
    SET status = 'dropped', error_code = 'webhook_disabled', next_attempt_at = NULL, leased_until = NULL
    FROM open WHERE delivery.id = open.id`.execute(trx);
}
