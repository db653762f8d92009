// The ledger of calls that are paid for or must not be repeated: each is claimed before it leaves, and closed when the end of
// its node is recorded (`recordNodeEnd`). A call that a later attempt finds `sent` was in flight when its worker died.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { tokenCountsOf } from './token-counts.js';
import type { NodeKey } from '../../graph/plan.js';

/** Of a row: calls to tools follow the model call of their turn and hold the tool's name; requests have no name. */
export const isModelCall = sql<boolean>`(model IS NOT NULL AND ordinal = 0)`;

export interface CallClaim {
  /** May the request leave? False: an earlier one may have reached the other side and must not be repeated. */
  isAllowed: boolean;
  /** Attempts so far, this one included. */
  attempts: number;
}

/** A node that makes one call leaves turn and ordinal out; an agent's model call has ordinal 0, its tool calls follow. */
export interface CallKey extends NodeKey {
  turn?: number;
  ordinal?: number;
}

interface NewCall extends CallKey {
  provider: string | null;
  model: string | null;
  /** How often a call that was in flight when its worker died may be made again. */
  repeatsAfterCrash: number;
}

/** Commits before the request leaves. One statement, so that two workers cannot both be allowed. */
export async function claimCall(db: Db, call: NewCall): Promise<CallClaim> {
  const { rows } = await sql<{ attempts: number }>`
    INSERT INTO provider_calls AS call (run_id, path, node_id, turn, ordinal, state, provider, model)
    VALUES (${call.runId}, ${call.path}, ${call.nodeId}, ${call.turn ?? 0}, ${call.ordinal ?? 0}, 'sent', ${call.provider},
      ${call.model})
    ON CONFLICT (run_id, path, node_id, turn, ordinal) DO UPDATE SET
      crashes = call.crashes + CASE WHEN call.state = 'sent' THEN 1 ELSE 0 END,
      state = 'sent', attempts = call.attempts + 1, sent_at = clock_timestamp(), replied_at = NULL
    WHERE call.state = 'refused' OR (call.state = 'sent' AND call.crashes < ${call.repeatsAfterCrash})
    RETURNING attempts`.execute(db);
  return { isAllowed: rows.length > 0, attempts: rows[0]?.attempts ?? 0 };
}

/**
 * Whether an earlier attempt left a call on the wire. A worker that asks has not made it itself, so its outcome is
 * unknown.
 */
export async function isCallInFlight(db: Db, { runId, path, nodeId }: NodeKey): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM provider_calls
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = 0 AND ordinal = 0
      AND state = 'sent'`.execute(db);
  return rows.length > 0;
}

/** The other side refused or was never reached: the call did nothing and may be made again. */
export async function markCallRefused(db: Db, { runId, path, nodeId, turn = 0, ordinal = 0 }: CallKey): Promise<void> {
  await sql`
    UPDATE provider_calls SET state = 'refused', replied_at = clock_timestamp()
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn} AND ordinal = ${ordinal}`.execute(
    db,
  );
}

/** What the other side counted (JSON text), and what that costs. */
export interface PaidCall {
  usage: string | null;
  priceUsd: string | null;
}

/** For the steps of an agent, in the transaction that records the step. */
export async function markCallApplied(
  db: Db,
  { runId, path, nodeId, turn = 0, ordinal = 0 }: CallKey,
  { usage, priceUsd }: PaidCall,
): Promise<void> {
  const tokens = tokenCountsOf(usage);
  await sql`
    UPDATE provider_calls
    SET state = 'applied', replied_at = clock_timestamp(), usage = ${usage}, price_usd = ${priceUsd},
      input_tokens = ${tokens.input}, output_tokens = ${tokens.output}
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn} AND ordinal = ${ordinal}`.execute(
    db,
  );
}

/** What a node's calls have cost so far, in USD. */
export async function sumCallPrices(db: Db, { runId, path, nodeId }: NodeKey): Promise<string> {
  const { rows } = await sql<{ total: string }>`
    SELECT coalesce(sum(price_usd), 0) AS total FROM provider_calls
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`.execute(db);
  return rows[0]?.total ?? '0';
}
