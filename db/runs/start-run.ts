// The start of a run, with the end of its trigger, in one statement.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { endNode, payNode, type NodeEndRow } from '../nodes/node-results-repository.js';
import { tellWatchers } from '../watches/tell-watchers.js';
import { webhookEventOf } from '../webhooks/webhook-outbox-repository.js';
import { START_SEQUENCE } from './execution-update.js';

/** The end of a trigger. */
type TriggerEnd = Pick<NodeEndRow, 'runId' | 'path' | 'nodeId' | 'label' | 'projectId' | 'userId' | 'resultEnc'> & {
  result: string;
};

/**
 * Records the run's start and the end of the trigger with which it starts, in one statement. It changes nothing where the
 * run has been started before or has ended. A trigger that the run has taken over stays as it is. Returns true if this is
 * the end of the trigger.
 */
export async function recordStart(db: Db, runId: string, trigger: TriggerEnd | undefined): Promise<boolean> {
  if (trigger === undefined) {
    await sql`/* record_start */
      WITH ${startRun(runId)} SELECT ${tellWatchers(runId)} FROM changed`.execute(db);
    return false;
  }
  const end: NodeEndRow = { ...trigger, ...TRIGGER_END };
  const { rows } = await sql<{ isSettled: boolean }>`/* record_trigger */
    WITH ${startRun(runId)}, settled AS (
      ${endNode(end, sql`changed`)}
    ), paid AS (
      ${payNode(end, sql`EXISTS (SELECT FROM settled)`)}
    )
    SELECT EXISTS (SELECT FROM settled) AS "isSettled", ${tellWatchers(end.runId)} FROM changed`.execute(db);
  return rows[0]?.isSettled === true;
}

const TRIGGER_END = {
  kind: 'trigger',
  status: 'succeed',
  tookMs: 0,
  handle: 0,
  alsoHandles: null,
  errorCode: null,
  errorMessage: null,
  isHandled: false,
  amountUsd: '0',
  priceVersion: '',
  isEstimated: false,
  reason: '',
} as const;

/** Members of a WITH list: the start of the run and its webhook event. `changed` is the run. */
function startRun(runId: string): RawBuilder<unknown> {
  return sql`
    changed AS (
      UPDATE runs SET sequence = ${START_SEQUENCE}, run_started_at = now(), updated_at = now()
      WHERE id = ${runId} AND status = 'In Progress' AND sequence < ${START_SEQUENCE} AND run_started_at IS NULL
      RETURNING id, workflow_id, project_id, status, purpose
    ), notified AS (${webhookEventOf('workflow_run.started', sql`changed`)})`;
}
