// The cost of a node that calls models is the sum of its calls in the ledger, whenever their answers arrive. The
// end of a run, or of the node, charges the calls in flight as cut off, that is, with the amount reserved for them, as
// an estimate; an answer that is recorded later changes the amount to the new sum.
//
// Every transaction that records the price of an answer, or computes a billing transaction from the ledger, holds the
// run's row lock until its commit, so that none of them misses another's uncommitted change. A transaction that dies
// before the commit has changed nothing, and a repeat after the commit finds the same sum.
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
 * Locks the run before anything else in the transaction. Returns true if the run is open; it then stays open until the
 * commit.
 */
export async function lockRun(trx: Transaction<Tables>, runId: string): Promise<boolean> {
  const { rows } = await sql<{ isOpen: boolean }>`
    SELECT status = 'In Progress' AS "isOpen" FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`.execute(trx);
  return rows[0]?.isOpen === true;
}

/**
 * Locks the run, then the node, both before the node's calls. Statements that close nodes from outside (`closeNode`)
 * also lock the node before its calls, so they cannot deadlock with this one. Their lock on the run (FOR KEY SHARE)
 * does not wait for the lock here.
 */
async function lockRunAndNode(trx: Transaction<Tables>, { runId, path, nodeId }: NodeKey): Promise<void> {
  await sql`
    WITH run AS MATERIALIZED (
      SELECT id FROM runs WHERE id = ${runId} FOR NO KEY UPDATE
    ), node AS MATERIALIZED (
      SELECT FROM node_results
      WHERE run_id = (SELECT id FROM run) AND path = ${path} AND node_id = ${nodeId} FOR NO KEY UPDATE
    )
    SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM node)`.execute(trx);
}

/** Marks a model call as answered and records its price, in a transaction that has locked the run. Idempotent. */
export async function addPaidCall(trx: Transaction<Tables>, call: OwnCall, paid: PaidCall): Promise<void> {
  await markCallApplied(trx, call, paid);
  await setToLedger(trx, call.runId, isNode(call));
}

/**
 * Records the price of an answered model call without its answer. The call counts as answered, so it cannot be claimed
 * again.
 */
export async function savePaidCall(db: Database, call: OwnCall, paid: PaidCall): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockRun(trx, call.runId);
    await addPaidCall(trx, call, paid);
  });
}

/** Records the price of an answer that cannot be used, and leaves the call free to be claimed again. */
export async function savePaidAttempt(db: Database, call: OwnCall, paid: PaidCall): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockRun(trx, call.runId);
    await markCallCut(trx, call);
    // The answer replaces the charge of the cut call.
    await addPaidCall(trx, call, paid);
  });
}

/** The answer with which a node ends, identified by the turn and attempt of its call. */
export interface AnsweredCall extends PaidCall {
  turn: number;
  attempt: number;
}

/**
 * `recordNodeEnd` for nodes that call models. The cost is that of the ledger, not that of `end`, and calls in flight
 * are charged as cut off. Records `answered` in the same transaction.
 */
export async function recordPaidEnd(db: Database, end: NodeEndRow, answered?: AnsweredCall): Promise<boolean> {
  const { runId, path, nodeId } = end;
  return db.transaction().execute(async (trx) => {
    await lockRunAndNode(trx, end);
    // Close what a failed node was waiting for, and request the cancellation of the runs of its tool calls, because
    // nobody waits for them any more.
    if (end.status === 'failed') await sql`WITH ${closedRequests(isNode(end))} SELECT`.execute(trx);
    if (answered !== undefined) await markCallApplied(trx, { ...answered, runId, path, nodeId }, answered);
    await cutCallsOnWire(trx, end);
    await setToLedger(trx, runId, isNode(end));
    const { usd, isEstimated } = await sumCallPrices(trx, end);
    await releaseCalls(trx, end);
    return recordNodeEnd(trx, { ...end, amountUsd: usd, isEstimated });
  });
}

/**
 * Charges the calls in flight of a run that ends, in the transaction that has locked the run. The caller then adds
 * missing transactions.
 */
export async function chargeCallsOnWire(trx: Transaction<Tables>, runId: string): Promise<void> {
  await cutCallsOnWire(trx, { runId });
  await setToLedger(trx, runId, sql`state = 'cut'`);
}

function isNode({ runId, path, nodeId }: Omit<NodeKey, 'turn'>): RawBuilder<unknown> {
  return sql`run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`;
}

/**
 * Sets the amounts of the nodes' transactions to the sums of their calls. Leaves out nodes without a transaction,
 * because their end will write it. `which` selects calls of the nodes.
 */
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
