// What an agent costs: the sum of its calls in the ledger, whenever their answers come. The end of a run writes the
// transaction of an agent that was cancelled, while a model call of it may still be on the wire; the answer is recorded
// later, and the amount grows to the new sum. Whoever changes one of the two, or reads one to write the other, holds the
// run's row lock from before until the commit, so that nobody overlooks what another one is about to commit. Nothing has
// happened before the commit, and a repeat after it finds the same sum.
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Database } from '../core/client.js';
import type { Tables } from '../core/tables.js';
import { recordNodeEnd, type NodeEnd } from '../nodes/node-results-repository.js';
import {
  markCallApplied,
  releaseCalls,
  sumCallPrices,
  type CallKey,
  type PaidCall,
} from '../nodes/provider-calls-repository.js';
import { closedRequests } from '../waits/close-waits.js';

/** Before anything else in the transaction. Whether the run is open, which it then stays until the commit. */
export async function lockRun(trx: Transaction<Tables>, runId: string): Promise<boolean> {
  const { rows } = await sql<{ isOpen: boolean }>`/* lock_run */
    SELECT status = 'In Progress' AS "isOpen" FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`.execute(trx);
  return rows[0]?.isOpen === true;
}

/** The answer of a model call, in a transaction that has locked the run. */
export async function addPaidCall(trx: Transaction<Tables>, call: CallKey, paid: PaidCall): Promise<void> {
  await markCallApplied(trx, call, paid);
  await raiseToLedger(trx, call);
}

/** The answer of a model call that is paid for, and of which nothing else is kept. */
export async function savePaidCall(db: Database, call: CallKey, paid: PaidCall): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockRun(trx, call.runId);
    await addPaidCall(trx, call, paid);
  });
}

/** `recordNodeEnd` of an agent: it has cost what the ledger says by then, whatever `end` says. */
export async function recordAgentEnd(db: Database, end: NodeEnd): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockRun(trx, end.runId);
    // Nobody waits any more for the runs of its tool calls.
    if (end.status === 'failed') await sql`WITH ${closedRequests(isNode(end))} SELECT`.execute(trx);
    const amountUsd = await sumCallPrices(trx, end);
    await releaseCalls(trx, end);
    return recordNodeEnd(trx, { ...end, amountUsd });
  });
}

function isNode({ runId, path, nodeId }: NodeKey): RawBuilder<unknown> {
  return sql`run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`;
}

/** Nothing changes where the node has no transaction yet: its end will write one. */
async function raiseToLedger(trx: Transaction<Tables>, node: NodeKey): Promise<void> {
  const { runId, path, nodeId } = node;
  const usd = await sumCallPrices(trx, node);
  await sql`
    UPDATE billing_transactions SET amount_usd = ${usd}, updated_at = clock_timestamp()
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND amount_usd < ${usd}`.execute(trx);
}
