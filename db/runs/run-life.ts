// A run starts by `startRun` and ends by `endRun`, no matter who reports the start or end: a worker, the API, or an
// external executor (the endpoint execution-update).
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import { SYSTEM } from '../audit/audit-entry.js';
import { recordChange } from '../audit/record-change.js';
import type { Database, Db } from '../core/client.js';
import { chargeMarketplaceFee } from '../marketplace/marketplace-fee.js';
import { answeredColumns, answeredParent, toAwaitedBy, type Answered } from './child-runs-repository.js';
import type { StoredRunStatus, Tables, WebhookEventType } from '../core/tables.js';
import { chargeCallsOnWire } from '../agents/agent-charges.js';
import { endNode, payNode, type NodeEndRow } from '../nodes/node-results-repository.js';
import { releaseCalls } from '../nodes/provider-calls-repository.js';
import { closedRequests } from '../nodes/close-requests.js';
import type { WaitKey } from '../waits/wait-key.js';
import { notifyOfEnd, notifyWatchers } from '../watches/notify-watchers.js';
import { enqueueWebhookEvent, webhookEventOf } from '../webhooks/webhook-outbox-repository.js';

export interface RunOutcome {
  status: 'succeed' | 'failed' | 'cancelled';
  error?: { code: string; message: string } | undefined;
  /** ISO 8601. The default is the database's clock. */
  finishedAt?: string | undefined;
  /** Failures of nodes outside loops, as an external executor reports them. Ended nodes are not changed. */
  failedNodes?: Record<string, { code: string; message: string }> | undefined;
}

export interface RunChange {
  applied: boolean;
  runStatus: StoredRunStatus | null;
  /** Why nothing was changed. `stale`: a repeat, or a later report was already applied. */
  reason?: 'unknown_run' | 'already_terminal' | 'stale';
  /** The node of another run that waited for the end of this one. */
  awaitedBy?: WaitKey;
}

// Reports from outside are numbered: one is applied only if its number is above `runs.sequence`. A start or end by the
// service itself has no number and is never stale, but raises `runs.sequence` to the number below, so that a report
// from outside with this or a smaller number is stale.
const START_REPORT = 1;
const END_REPORT = 2;

/**
 * Starts the run, unless it has been started, and records the end of its trigger, in one statement. Changes nothing if
 * the run has ended; does not replace a result of the trigger. Records the end of the trigger of a started run, too,
 * because a report from outside records only the start. Returns true if this call has recorded the end of the trigger.
 * `trigger` is undefined for a report from outside, and if the run starts with another node.
 */
export async function startRun(
  db: Db,
  runId: string,
  { trigger, report = START_REPORT }: { trigger?: TriggerEnd | undefined; report?: number } = {},
): Promise<boolean> {
  const started = sql`
    changed AS (
      UPDATE runs SET sequence = ${report}, run_started_at = now(), updated_at = now()
      WHERE id = ${runId} AND status = 'In Progress' AND run_started_at IS NULL
      RETURNING id, workflow_id, project_id, status, purpose
    ), notified AS (${webhookEventOf('workflow_run.started', sql`changed`)})`;
  if (trigger === undefined) {
    await sql`
      WITH ${started} SELECT ${notifyWatchers(runId)} FROM changed`.execute(db);
    return false;
  }
  const end: NodeEndRow = { ...trigger, ...TRIGGER_END };
  const { rows } = await sql<{ isSettled: boolean }>`
    WITH ${started}, started_before AS (
      SELECT id FROM runs WHERE id = ${runId} AND status = 'In Progress' AND run_started_at IS NOT NULL FOR KEY SHARE
    ), open_run AS (
      SELECT id FROM changed UNION ALL SELECT id FROM started_before
    ), settled AS (
      ${endNode(end, sql`open_run`)}
    ), paid AS (
      ${payNode(end, sql`EXISTS (SELECT FROM settled)`)}
    )
    SELECT EXISTS (SELECT FROM settled) AS "isSettled", ${notifyWatchers(runId)} FROM open_run
    WHERE EXISTS (SELECT FROM changed) OR EXISTS (SELECT FROM settled)`.execute(db);
  return rows[0]?.isSettled === true;
}

export type TriggerEnd = Pick<
  NodeEndRow,
  'runId' | 'path' | 'nodeId' | 'label' | 'projectId' | 'userId' | 'resultEnc'
> & {
  result: string;
};

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

/** Applies the report that a run is in progress. Starts the run if necessary. */
export function reportProgress(db: Database, runId: string, report: number): Promise<RunChange> {
  return db.transaction().execute(async (trx) => {
    const run = await lockRun(trx, runId);
    if (run === undefined) return UNKNOWN_RUN;
    const refused = refusalOf(run, report);
    if (refused !== undefined) return refused;
    if (run.run_started_at === null) await startRun(trx, runId, { report });
    else {
      await trx
        .updateTable('runs')
        .set({ sequence: report, updated_at: sql`now()` })
        .where('id', '=', runId)
        .returning(notifyWatchers(runId).as('notified'))
        .execute();
    }
    return { applied: true, runStatus: 'In Progress' };
  });
}

/**
 * Ends the run. The call may be repeated. In one transaction, writes the terminal status, closes open nodes, adds
 * missing billing transactions, requests the cancellation of child runs, answers the parent run, and stores the webhook
 * event. A process that dies before the commit has changed nothing. After the commit the caller announces the end
 * (acceptance/announce-run-end.ts). `report` is the number of a report from outside.
 */
export async function endRun(db: Db, runId: string, outcome: RunOutcome, report?: number): Promise<RunChange> {
  const ended = isPlainSuccess(outcome) ? await succeedRun(db, runId, report) : undefined;
  if (ended !== undefined) return ended;
  if (db.isTransaction) return endWithin(db as Transaction<Tables>, runId, outcome, report);
  return db.transaction().execute((trx) => endWithin(trx, runId, outcome, report));
}

function isPlainSuccess({ status, error, finishedAt, failedNodes }: RunOutcome): boolean {
  return status === 'succeed' && error === undefined && finishedAt === undefined && failedNodes === undefined;
}

/**
 * The fast path for nearly all runs: ends a success that leaves nothing open and costs no fee, in one statement.
 * Returns undefined, and changes nothing, in all other cases, also if the run has ended or is unknown.
 */
async function succeedRun(db: Db, runId: string, report: number | undefined): Promise<RunChange | undefined> {
  const isInOrder = report === undefined ? sql`true` : sql`sequence < ${report}`;
  const { rows } = await sql<Answered>`
    WITH changed AS (
      UPDATE runs AS run SET status = 'Succeeded', sequence = ${sequenceAfter(report)}, error_code = NULL, error_message = NULL,
        run_finished_at = greatest(run_started_at, now()), updated_at = now(), next_check_at = NULL
      WHERE id = ${runId} AND status = 'In Progress' AND ${isInOrder} AND run_started_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM node_results AS node WHERE node.run_id = run.id AND node.status = 'in progress')
        AND NOT EXISTS (
          SELECT path, node_id FROM node_results WHERE run_id = run.id AND NOT is_reused AND NOT is_iteration
          EXCEPT SELECT path, node_id FROM billing_transactions WHERE run_id = run.id)
        AND NOT EXISTS (SELECT FROM approval_requests AS asked WHERE asked.run_id = run.id AND asked.status = 'pending')
        AND NOT EXISTS (
          SELECT FROM provider_calls AS call
          WHERE call.project_id = run.project_id AND call.run_id = run.id AND call.reserved_usd IS NOT NULL)
        AND NOT EXISTS (SELECT FROM marketplace_copies AS copy WHERE copy.copy_id = run.workflow_id)
        AND (run.is_plain OR NOT EXISTS (
          SELECT FROM waits AS wait WHERE wait.run_id = run.id AND wait.kind = 'worker' AND wait.closed_at IS NULL))
      RETURNING id, workflow_id, project_id, status, purpose, parent_run_id, parent_path, parent_node_id
    ), ${answeredParent}, notified AS (${webhookEventOf(EVENTS.succeed, sql`changed`)})
    SELECT ${answeredColumns}, ${notifyOfEnd(runId)} FROM changed LEFT JOIN answered ON true`.execute(db);
  const [row] = rows;
  return row && { applied: true, runStatus: STORED.succeed, ...toAwaitedBy(row) };
}

/** Returns the value of `runs.sequence` after the end of the run. */
function sequenceAfter(report: number | undefined): RawBuilder<number> {
  return report === undefined ? sql`greatest(sequence, ${sql.lit(END_REPORT)})` : sql`${report}::integer`;
}

const STORED: Record<RunOutcome['status'], StoredRunStatus> = {
  succeed: 'Succeeded',
  failed: 'Error',
  cancelled: 'Cancelled',
};

const EVENTS: Record<RunOutcome['status'], WebhookEventType> = {
  succeed: 'workflow_run.succeeded',
  failed: 'workflow_run.failed',
  cancelled: 'workflow_run.cancelled',
};

/**
 * Reads the run and locks its row. Transactions that claim or record a node lock the key of this row, so no node
 * starts between the closing of the nodes and the commit.
 */
function lockRun(trx: Transaction<Tables>, runId: string) {
  return trx
    .selectFrom('runs')
    .leftJoin('marketplace_copies as copy', 'copy.copy_id', 'runs.workflow_id')
    .select([
      'status',
      'sequence',
      'project_id',
      'runs.user_id',
      'purpose',
      'snapshot_hash',
      'run_started_at',
      'cancel_requested_at',
    ])
    .select(['copy.source_id', 'copy.run_fee_usd', 'copy.free_runs_per_user'])
    .where('id', '=', runId)
    .forUpdate('runs')
    .executeTakeFirst();
}

const UNKNOWN_RUN: RunChange = { applied: false, runStatus: null, reason: 'unknown_run' };

function refusalOf(
  run: { status: StoredRunStatus; sequence: number },
  report: number | undefined,
): RunChange | undefined {
  if (report !== undefined && report <= run.sequence) return { applied: false, runStatus: run.status, reason: 'stale' };
  if (run.status !== 'In Progress') return { applied: false, runStatus: run.status, reason: 'already_terminal' };
  return undefined;
}

async function endWithin(
  trx: Transaction<Tables>,
  runId: string,
  outcome: RunOutcome,
  report: number | undefined,
): Promise<RunChange> {
  const run = await lockRun(trx, runId);
  if (run === undefined) return UNKNOWN_RUN;
  const refused = refusalOf(run, report);
  if (refused !== undefined) return refused;
  await closeNodes(trx, runId, outcome);
  await addMissingTransactions(trx, runId, run);
  if (outcome.status === 'cancelled' && run.purpose === 'assistant') await cancelTests(trx, runId);
  if (outcome.status === 'succeed' && run.purpose === 'run') await chargeMarketplaceFee(trx, { ...run, run_id: runId });
  const status = STORED[outcome.status];
  const finishedAt = sql<Date>`least(now(), coalesce(${outcome.finishedAt ?? null}::timestamptz, now()))`;
  await trx
    .updateTable('runs')
    .set({
      status,
      sequence: sequenceAfter(report),
      error_code: outcome.error?.code ?? null,
      error_message: outcome.error?.message ?? null,
      run_started_at: sql`coalesce(run_started_at, ${finishedAt})`,
      run_finished_at: sql`greatest(run_started_at, ${finishedAt})`,
      updated_at: sql`now()`,
      next_check_at: null,
    })
    .where('id', '=', runId)
    .returning(notifyOfEnd(runId).as('notified'))
    .execute();
  await enqueueWebhookEvent(trx, { type: EVENTS[outcome.status], runId });
  // A person's request to cancel is audited when it is made. Without any request, the run was cancelled or terminated
  // in Temporal, or cancelled by an external executor.
  if (status === 'Cancelled' && run.cancel_requested_at === null) {
    const cancelled = { action: 'run.cancelled', type: 'run', doer: SYSTEM, keyOf: () => ({ id: runId }) } as const;
    await recordChange(trx, cancelled, () => Promise.resolve());
  }
  const answered = await sql<Answered>`
    WITH changed AS (SELECT id, parent_run_id, parent_path, parent_node_id FROM runs WHERE id = ${runId}), ${answeredParent}
    SELECT ${answeredColumns} FROM answered`.execute(trx);
  return { applied: true, runStatus: status, ...(answered.rows[0] && toAwaitedBy(answered.rows[0])) };
}

/**
 * Requests the cancellation of the open tests that a cancelled run of the assistant in the editor has asked for. The
 * reconciler cancels a started test in its next round, and any other test 15 seconds after its acceptance at the
 * latest, when its start must have reached Temporal.
 */
async function cancelTests(trx: Transaction<Tables>, runId: string): Promise<void> {
  await sql`
    UPDATE runs SET cancel_requested_at = coalesce(cancel_requested_at, now()), check_attempts = 0, updated_at = now(),
      next_check_at = CASE WHEN run_started_at IS NULL
        THEN least(next_check_at, created_at + interval '15 seconds') ELSE now() END
    WHERE status = 'In Progress' AND id IN (SELECT run_id FROM test_runs WHERE asked_by = ${runId})`.execute(trx);
}

/** A node may have started after the start of this transaction; then `now()` would be before its start. */
const closedAt = sql<Date>`greatest(node_results.started_at, now())`;

async function closeNodes(trx: Transaction<Tables>, runId: string, { failedNodes = {} }: RunOutcome): Promise<void> {
  for (const [nodeId, { code, message }] of Object.entries(failedNodes)) {
    const failed = { status: 'failed' as const, error_code: code, error_message: message };
    await trx
      .insertInto('node_results')
      .values({ run_id: runId, path: '', node_id: nodeId, ...failed, started_at: sql`now()`, finished_at: sql`now()` })
      .onConflict((conflict) =>
        conflict
          .columns(['run_id', 'path', 'node_id'])
          .doUpdateSet({ ...failed, finished_at: closedAt })
          .where('node_results.status', '=', 'in progress'),
      )
      .execute();
  }
  await trx
    .updateTable('node_results')
    .set({
      status: 'failed',
      error_code: 'cancelled',
      error_message: 'The node was cancelled because the run ended.',
      finished_at: closedAt,
    })
    .where('run_id', '=', runId)
    .where('status', '=', 'in progress')
    .execute();
  await sql`WITH ${closedRequests(sql`run_id = ${runId}`)} SELECT`.execute(trx);
  await chargeCallsOnWire(trx, runId);
  await releaseCalls(trx, { runId });
}

const ROWS_AT_ONCE = 1_000;

/** Adds a billing transaction for every executed node that has none. */
async function addMissingTransactions(
  trx: Transaction<Tables>,
  runId: string,
  run: { project_id: number; user_id: number; snapshot_hash: Buffer },
): Promise<void> {
  const missing = await trx
    .selectFrom('node_results as node')
    .leftJoin(
      sql<{ path: string; node_id: string; usd: string; is_estimated: boolean }>`(
        SELECT path, node_id, sum(price_usd) AS usd, bool_or(is_estimated) AS is_estimated FROM provider_calls
        WHERE run_id = ${runId} GROUP BY path, node_id)`.as('spent'),
      (join) => join.onRef('spent.path', '=', 'node.path').onRef('spent.node_id', '=', 'node.node_id'),
    )
    .select(['node.path', 'node.node_id', 'node.status', 'node.error_code'])
    .select(
      // A closed node, such as an agent that was waiting, pays for the model calls that it has made.
      sql<string>`coalesce(spent.usd, 0)`.as('amount_usd'),
    )
    .select(sql<boolean>`coalesce(spent.is_estimated, false)`.as('is_estimated'))
    .where('node.run_id', '=', runId)
    .where('node.is_iteration', '=', false)
    .where('node.is_reused', '=', false)
    .where(
      sql<boolean>`NOT EXISTS (SELECT FROM billing_transactions paid
        WHERE paid.run_id = node.run_id AND paid.path = node.path AND paid.node_id = node.node_id)`,
    )
    .execute();
  if (missing.length === 0) return;
  const plan = await findPlan(trx, run.snapshot_hash);
  const numberOf = new Map(plan.ids.map((id, index) => [id, index]));
  const rows = missing.flatMap(({ path, node_id, status, error_code, amount_usd, is_estimated }) => {
    const node = numberOf.get(node_id);
    if (node === undefined) return [];
    return {
      run_id: runId,
      path,
      node_id,
      project_id: run.project_id,
      user_id: run.user_id,
      operation: plan.kinds[node]!,
      status: status === 'succeed' ? ('Succeeded' as const) : ('Error' as const),
      amount_usd,
      is_estimated,
      reason: error_code ?? '',
      description: plan.labels[node]!,
    };
  });
  // PostgreSQL allows 65,535 parameters in a statement, and a row has eleven.
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    await trx
      .insertInto('billing_transactions')
      .values(rows.slice(from, from + ROWS_AT_ONCE))
      .onConflict((conflict) => conflict.columns(['run_id', 'path', 'node_id', 'operation']).doNothing())
      .execute();
}

async function findPlan(trx: Transaction<Tables>, hash: Buffer): Promise<Plan> {
  const { plan } = await trx
    .selectFrom('graph_snapshots')
    .select('plan')
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow();
  return plan as Plan;
}
