// The life of a run. Everything that moves a run's status goes through `applyExecutionUpdate`: the execution-update
// endpoint, the reconciler, and the trigger's activity for the start.
import { sql, type Transaction } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import { SYSTEM } from '../audit/audit-entry.js';
import { recordChange } from '../audit/record-change.js';
import type { Db } from '../core/client.js';
import { applyCommonUpdate } from './succeed-run.js';
import { chargeMarketplaceFee } from '../marketplace/marketplace-fee.js';
import { answeredColumns, answeredParent, toAwaitedBy, type Answered } from './child-runs-repository.js';
import { EVENTS, STORED, type ExecutionUpdate, type UpdateOutcome } from './execution-update.js';
import type { Tables } from '../core/tables.js';
import { chargeCallsOnWire } from '../agents/agent-charges.js';
import { releaseCalls } from '../nodes/provider-calls-repository.js';
import { closedRequests } from '../nodes/close-requests.js';
import { tellWatchers } from '../watches/tell-watchers.js';
import { enqueueWebhookEvent } from '../webhooks/webhook-outbox-repository.js';

/**
 * Idempotent. A terminal status is written in one transaction with all that it implies: open nodes are closed, missing
 * transactions are added, the runs that it waited for are stopped, the run that waits for it gets its answer, and the
 * webhook event is stored. A process that dies before the commit has changed nothing, and the sender repeats.
 */
export async function applyExecutionUpdate(db: Db, runId: string, update: ExecutionUpdate): Promise<UpdateOutcome> {
  const common = await applyCommonUpdate(db, runId, update);
  if (common !== undefined) return common;
  if (db.isTransaction) return applyWithin(db as Transaction<Tables>, runId, update);
  return db.transaction().execute((trx) => applyWithin(trx, runId, update));
}

async function applyWithin(trx: Transaction<Tables>, runId: string, update: ExecutionUpdate): Promise<UpdateOutcome> {
  const run = await trx
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
    // A transaction that begins or ends a node locks the key of this row. This lock waits for it, so no node begins
    // between the closing of the nodes and the commit.
    .forUpdate('runs')
    .executeTakeFirst();
  if (run === undefined) return { applied: false, runStatus: null, reason: 'unknown_run' };
  if (update.sequence <= run.sequence) return { applied: false, runStatus: run.status, reason: 'stale' };
  if (run.status !== 'In Progress') return { applied: false, runStatus: run.status, reason: 'already_terminal' };
  if (update.status === 'in progress') {
    await trx
      .updateTable('runs')
      .set({ sequence: update.sequence, run_started_at: sql`coalesce(run_started_at, now())`, updated_at: sql`now()` })
      .where('id', '=', runId)
      .returning(tellWatchers(runId).as('told'))
      .execute();
    if (run.run_started_at === null) await enqueueWebhookEvent(trx, { type: 'workflow_run.started', runId });
    return { applied: true, runStatus: 'In Progress' };
  }
  await closeNodes(trx, runId, update);
  await addMissingTransactions(trx, runId, run);
  if (update.status === 'succeed' && run.purpose === 'run') await chargeMarketplaceFee(trx, { ...run, run_id: runId });
  const status = STORED[update.status];
  const finishedAt = sql<Date>`least(now(), coalesce(${update.finished_at ?? null}::timestamptz, now()))`;
  await trx
    .updateTable('runs')
    .set({
      status,
      sequence: update.sequence,
      error_code: update.error?.code ?? null,
      error_message: update.error?.message ?? null,
      run_started_at: sql`coalesce(run_started_at, ${finishedAt})`,
      run_finished_at: sql`greatest(run_started_at, ${finishedAt})`,
      updated_at: sql`now()`,
      next_check_at: null,
    })
    .where('id', '=', runId)
    .returning(tellWatchers(runId).as('told'))
    .execute();
  await enqueueWebhookEvent(trx, { type: EVENTS[update.status], runId });
  // A cancel that is requested here is recorded with the request; this run was cancelled in Temporal.
  if (status === 'Cancelled' && run.cancel_requested_at === null) {
    const cancelled = { action: 'run.cancelled', type: 'run', doer: SYSTEM, keyOf: () => ({ id: runId }) } as const;
    await recordChange(trx, cancelled, () => Promise.resolve());
  }
  const answered = await sql<Answered>`/* answer_parent */
    WITH changed AS (SELECT id, parent_run_id, parent_path, parent_node_id FROM runs WHERE id = ${runId}), ${answeredParent}
    SELECT ${answeredColumns} FROM answered`.execute(trx);
  return { applied: true, runStatus: status, ...(answered.rows[0] && toAwaitedBy(answered.rows[0])) };
}

/** A node may have begun after this transaction, whose `now()` is then too early for its end. */
const closedAt = sql<Date>`greatest(node_results.started_at, now())`;

async function closeNodes(trx: Transaction<Tables>, runId: string, update: ExecutionUpdate): Promise<void> {
  for (const [nodeId, { error }] of Object.entries(update.nodes ?? {})) {
    const failed = { status: 'failed' as const, error_code: error.code, error_message: error.message };
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

/** Every executed node gets a billing transaction, even when the worker died before it could write one. */
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
      // An agent that was cancelled while it waited has paid for its turns.
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
  // A statement takes 65,535 parameters, and a row has eleven.
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
