// The ledger of calls that are paid for or must not be repeated: each is claimed before it leaves, and closed when the end of
// its node is recorded (`recordNodeEnd`). A call that a later attempt finds `sent` was in flight when its worker died.
import { sql, type RawBuilder } from 'kysely';
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

export interface NewCall extends CallKey {
  provider: string | null;
  model: string | null;
  /** How often a call that was in flight when its worker died may be made again. */
  repeatsAfterCrash: number;
}

/** Commits before the request leaves. One statement, so that two workers cannot both be allowed. */
export async function claimCall(db: Db, call: NewCall): Promise<CallClaim> {
  const { rows } = await sql<{ attempts: number }>`${claimOf(call)}`.execute(db);
  return { isAllowed: rows.length > 0, attempts: rows[0]?.attempts ?? 0 };
}

/** What a call that is paid for is reserved at. */
interface Reservation {
  projectId: number;
  usd: string;
}

/** The insert of a claim, which gives `attempts` where the call may be made, if `source` has a row. */
export function claimOf(call: NewCall, reserved?: Reservation, source = sql``): RawBuilder<unknown> {
  return sql`
    INSERT INTO provider_calls AS call
      (run_id, path, node_id, turn, ordinal, state, provider, model, project_id, reserved_usd)
    SELECT ${call.runId}::uuid, ${call.path}, ${call.nodeId}, ${call.turn ?? 0}::integer, ${call.ordinal ?? 0}::integer, 'sent',
      ${call.provider}, ${call.model}, ${reserved?.projectId ?? null}::integer, ${reserved?.usd ?? null}::numeric
    ${source}
    ON CONFLICT (run_id, path, node_id, turn, ordinal) DO UPDATE SET
      crashes = call.crashes + CASE WHEN call.state = 'sent' THEN 1 ELSE 0 END,
      state = 'sent', attempts = call.attempts + 1, sent_at = clock_timestamp(), replied_at = NULL,
      project_id = excluded.project_id, reserved_usd = excluded.reserved_usd
    WHERE call.state = 'refused' OR (call.state = 'sent' AND call.crashes < ${call.repeatsAfterCrash}::integer)
    RETURNING attempts`;
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
    UPDATE provider_calls SET state = 'refused', replied_at = clock_timestamp(), reserved_usd = NULL
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn} AND ordinal = ${ordinal}`.execute(
    db,
  );
}

/** What the other side counted (JSON text), and what that costs. */
export interface PaidCall {
  usage: string | null;
  priceUsd: string | null;
}

/**
 * For the steps of an agent, in the transaction that records the step. What a call has cost stays reserved until its node has
 * a transaction, which has it then.
 */
export async function markCallApplied(
  db: Db,
  { runId, path, nodeId, turn = 0, ordinal = 0 }: CallKey,
  { usage, priceUsd }: PaidCall,
): Promise<void> {
  const tokens = tokenCountsOf(usage);
  await sql`
    UPDATE provider_calls
    SET state = 'applied', replied_at = clock_timestamp(), usage = ${usage}, price_usd = ${priceUsd},
      input_tokens = ${tokens.input}, output_tokens = ${tokens.output},
      reserved_usd = CASE WHEN NOT EXISTS (
        SELECT FROM billing_transactions AS paid
        WHERE paid.run_id = ${runId} AND paid.path = ${path} AND paid.node_id = ${nodeId}
      ) THEN nullif(${priceUsd}::numeric, 0) END
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn} AND ordinal = ${ordinal}`.execute(
    db,
  );
}

/** Frees what the calls of a run, or of one node of it, hold of the limits. */
export async function releaseCalls(
  db: Db,
  { runId, path, nodeId }: { runId: string } & Partial<NodeKey>,
): Promise<void> {
  const ofNode = nodeId === undefined ? sql`` : sql`AND path = ${path} AND node_id = ${nodeId}`;
  await sql`
    UPDATE provider_calls SET reserved_usd = NULL
    WHERE run_id = ${runId} ${ofNode} AND reserved_usd IS NOT NULL`.execute(db);
}

/**
 * A member of the WITH list of a statement that closes nodes from outside: frees what calls on the wire of those in `closed` hold
 * of the limits. What is paid stays.
 */
export function freedCalls(runId: string): RawBuilder<unknown> {
  return sql`
    freed_calls AS (
      UPDATE provider_calls AS call SET reserved_usd = NULL FROM closed
      WHERE call.run_id = ${runId} AND call.path = closed.path AND call.node_id = closed.node_id AND call.state = 'sent'
        AND call.reserved_usd IS NOT NULL
    )`;
}

/** What a node's calls have cost so far, in USD. */
export async function sumCallPrices(db: Db, { runId, path, nodeId }: NodeKey): Promise<string> {
  const { rows } = await sql<{ total: string }>`
    SELECT coalesce(sum(price_usd), 0) AS total FROM provider_calls
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`.execute(db);
  return rows[0]?.total ?? '0';
}
