// The cost of a node that calls models: the sum of its calls in the ledger, whenever their answers come. The end of a run, or
// of the node, charges what is still on the wire as cut off; an answer that is recorded later changes the amount to the new
// sum. Whoever changes one of the two, or reads one to write the other, holds the run's row lock from before until the
// commit, so that nobody overlooks what another one is about to commit. Nothing has happened before the commit, and a repeat
// after it finds the same sum.
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Database } from '../core/client.js';
import type { Tables } from '../core/tables.js';
import { recordNodeEnd, type NodeEndRow } from '../nodes/node-results-repository.js';
import {
  cutCallsOnWire,
  markCallApplied,
  markCallCut,
  releaseCalls,
  sumCallPrices,
  type OwnCall,
  type PaidCall,
} from '../nodes/provider-calls-repository.js';
import { closedRequests } from '../nodes/close-requests.js';

/**
 * Locks the run before anything else in the transaction. Returns whether it is open, which it then stays until the
 * commit.
 */
export async function lockRun(trx: Transaction<Tables>, runId: string): Promise<boolean> {
  const { rows } = await sql<{ isOpen: boolean }>`/* lock_run */
    SELECT status = 'In Progress' AS "isOpen" FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`.execute(trx);
  return rows[0]?.isOpen === true;
}

/** The answer of a model call, in a transaction that has locked the run. Idempotent. */
export async function addPaidCall(trx: Transaction<Tables>, call: OwnCall, paid: PaidCall): Promise<void> {
  await markCallApplied(trx, call, paid);
  await setToLedger(trx, call.runId, isNode(call));
}

/** The answer of a model call that is paid for, and of which nothing else is kept. */
export async function savePaidCall(db: Database, call: OwnCall, paid: PaidCall): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockRun(trx, call.runId);
    await addPaidCall(trx, call, paid);
  });
}

/** The answer of a model call that is paid for and cannot be used. The call may be made again. */
export async function savePaidAttempt(db: Database, call: OwnCall, paid: PaidCall): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockRun(trx, call.runId);
    await markCallCut(trx, call);
    // It takes the place of what a call that was cut off is charged.
    await addPaidCall(trx, call, paid);
  });
}

/** The answer with which a node ends, by the turn and the attempt of its call. */
export interface AnsweredCall extends PaidCall {
  turn: number;
  attempt: number;
}

/**
 * `recordNodeEnd` of a node that calls models: it has cost what the ledger says by then, whatever `end` says. A call of it that
 * is still on the wire is charged as cut off. `answered` is recorded together with the end.
 */
export async function recordPaidEnd(db: Database, end: NodeEndRow, answered?: AnsweredCall): Promise<boolean> {
  const { runId, path, nodeId } = end;
  return db.transaction().execute(async (trx) => {
    await lockRun(trx, runId);
    // The runs of its tool calls are closed: nobody waits for them any more.
    if (end.status === 'failed') await sql`WITH ${closedRequests(isNode(end))} SELECT`.execute(trx);
    if (answered !== undefined) await markCallApplied(trx, { ...answered, runId, path, nodeId }, answered);
    await cutCallsOnWire(trx, end);
    await setToLedger(trx, runId, isNode(end));
    const { usd, isEstimated } = await sumCallPrices(trx, end);
    await releaseCalls(trx, end);
    return recordNodeEnd(trx, { ...end, amountUsd: usd, isEstimated });
  });
}

/** The end of a run charges what is on the wire, in the transaction that has locked the run. Missing transactions follow. */
export async function chargeCallsOnWire(trx: Transaction<Tables>, runId: string): Promise<void> {
  await cutCallsOnWire(trx, { runId });
  await setToLedger(trx, runId, sql`state = 'cut'`);
}

function isNode({ runId, path, nodeId }: Omit<NodeKey, 'turn'>): RawBuilder<unknown> {
  return sql`run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`;
}

/** Nodes that have no transaction yet do not change: their end will write one. `which` are calls of the nodes. */
async function setToLedger(trx: Transaction<Tables>, runId: string, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    UPDATE billing_transactions AS paid
    SET amount_usd = ledger.usd, is_estimated = ledger.is_estimated, updated_at = clock_timestamp()
    FROM (
      SELECT path, node_id, coalesce(sum(price_usd), 0) AS usd, bool_or(is_estimated) AS is_estimated FROM provider_calls
      WHERE run_id = ${runId} AND (path, node_id) IN (
        SELECT path, node_id FROM provider_calls WHERE run_id = ${runId} AND ${which})
      GROUP BY path, node_id
    ) AS ledger
    WHERE paid.run_id = ${runId} AND paid.path = ledger.path AND paid.node_id = ledger.node_id
      AND (paid.amount_usd, paid.is_estimated) <> (ledger.usd, ledger.is_estimated)`.execute(trx);
}
