// The ledger of calls that are paid for or must not be repeated: each is claimed before it leaves, and closed when the end of
// its node is recorded. A call that a later attempt finds `sent` was in flight when its worker died. The attempt that has
// claimed a call last owns it: an earlier one, whose worker was frozen, changes it no more.
import { sql, type RawBuilder } from 'kysely';
import { keyColumns } from './key-columns.js';
import type { Db } from '../core/client.js';
import type { NodeKey } from '../../graph/plan.js';

/** Whether the row is a model call: calls to tools follow the model call of their turn and hold the tool's name; requests have no name. */
export const isModelCall = sql<boolean>`(model IS NOT NULL AND ordinal <= 0)`;

export interface CallClaim {
  /** May the request leave? False: an earlier one may have reached the other side and must not be repeated. */
  isAllowed: boolean;
  /** Attempts so far, this one included. */
  attempts: number;
  /** Those of them whose worker died with the call in flight. */
  crashes: number;
  /** Whether somebody reads the deltas of the run. */
  hasReaders: boolean;
}

/** A node that makes one call leaves turn and ordinal out; an agent's model call has ordinal 0, its tool calls follow. */
interface CallKey extends NodeKey {
  turn?: number;
  ordinal?: number;
}

/** A call as the attempt names it that has claimed it (`CallClaim.attempts`). */
export interface OwnCall extends CallKey {
  attempt: number;
}

export interface NewCall extends CallKey {
  provider: string | null;
  model: string | null;
  /** Whether a call that was in flight when its worker died may be made again. */
  mayRepeat: boolean;
}

/** Commits before the request leaves. One statement, so that two workers cannot both be allowed. */
export async function claimCall(db: Db, call: NewCall): Promise<CallClaim> {
  const { rows } = await sql<Omit<CallClaim, 'isAllowed'>>`${claimOf(call)}`.execute(db);
  return toClaim(rows[0]);
}

/** `made`: undefined where nothing was claimed. */
export function toClaim(made: Omit<CallClaim, 'isAllowed'> | undefined): CallClaim {
  return { isAllowed: made !== undefined, attempts: 0, crashes: 0, hasReaders: false, ...made };
}

export interface TokenCounts {
  input: number;
  output: number;
}

/** What a call that is paid for is reserved at. */
interface Reservation {
  projectId: number;
  usd: string;
  tokens: TokenCounts;
}

/** The insert of a claim, which gives the columns of `CallClaim` where the call may be made, if `source` has a row. */
export function claimOf(call: NewCall, reserved?: Reservation, source = sql``): RawBuilder<unknown> {
  return sql`
    INSERT INTO provider_calls AS call
      (run_id, path, node_id, turn, ordinal, state, provider, model, project_id, reserved_usd, input_tokens, output_tokens)
    SELECT ${call.runId}::uuid, ${call.path}, ${call.nodeId}, ${call.turn ?? 0}::integer, ${call.ordinal ?? 0}::integer, 'sent',
      ${call.provider}, ${call.model}, ${reserved?.projectId ?? null}::integer, ${reserved?.usd ?? null}::numeric,
      ${reserved?.tokens.input ?? null}::bigint, ${reserved?.tokens.output ?? null}::bigint
    ${source}
    ON CONFLICT (run_id, path, node_id, turn, ordinal) DO UPDATE SET
      crashes = call.crashes + CASE WHEN call.state = 'sent' THEN 1 ELSE 0 END,
      state = 'sent', attempts = call.attempts + 1, sent_at = clock_timestamp(), replied_at = NULL,
      project_id = excluded.project_id, reserved_usd = excluded.reserved_usd,
      input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens
    WHERE call.state = 'refused' OR (call.state = 'sent' AND ${call.mayRepeat}::boolean)
    RETURNING attempts, crashes, EXISTS (
      SELECT FROM run_watches AS watch WHERE watch.run_id = ${call.runId}::uuid AND watch.deltas AND watch.until > now()
    ) AS "hasReaders"`;
}

/**
 * Whether an earlier attempt left a call on the wire. A worker that asks has not made it itself, so its outcome is
 * unknown.
 */
export async function isCallInFlight(db: Db, { runId, path, nodeId }: NodeKey): Promise<boolean> {
  const call = await db
    .selectFrom('provider_calls')
    .select('state')
    .where((row) => row.and({ ...keyColumns({ runId, path, nodeId }), turn: 0, ordinal: 0, state: 'sent' }))
    .executeTakeFirst();
  return call !== undefined;
}

/** A condition on rows: they are of this turn of the node. */
function isOfTurn({ runId, path, nodeId, turn = 0 }: CallKey): RawBuilder<unknown> {
  return sql`run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn}`;
}

/** A condition on rows of a turn: the call is on the wire for this attempt. */
function isOnWire({ ordinal = 0, attempt }: OwnCall): RawBuilder<unknown> {
  return sql`ordinal = ${ordinal} AND attempts = ${attempt} AND state = 'sent'`;
}

/** The other side refused or was never reached: the call did nothing and may be made again. */
export async function markCallRefused(db: Db, call: OwnCall): Promise<void> {
  await sql`
    UPDATE provider_calls SET state = 'refused', replied_at = clock_timestamp(), reserved_usd = NULL
    WHERE ${isOfTurn(call)} AND ${isOnWire(call)}`.execute(db);
}

/** The call was not made, because somebody has to sign in first: it counts as none. */
export async function takeCallBack(db: Db, call: OwnCall): Promise<void> {
  await sql`
    UPDATE provider_calls SET state = 'refused', replied_at = clock_timestamp(), attempts = attempts - 1
    WHERE ${isOfTurn(call)} AND ${isOnWire(call)}`.execute(db);
}

/**
 * A model call was sent and has no answer: its provider may charge it, so it costs what was reserved, as estimated. It may be
 * made again (docs/use/spending.md, "How it is reckoned").
 */
export async function markCallCut(db: Db, call: OwnCall): Promise<void> {
  await sql`
    WITH on_wire AS (
      SELECT * FROM provider_calls WHERE ${isOfTurn(call)} AND ${isOnWire(call)} FOR UPDATE
    ), ${chargedCalls}
    SELECT`.execute(db);
}

/**
 * Members of a WITH list that charge the model calls of `on_wire` as cut off. The price of each is a row of its own, which
 * says the attempt, so that it is written once and the answer to that attempt finds it. It stays reserved until the
 * transaction of its node has it.
 */
const chargedCalls = sql`
  charged_calls AS (
    INSERT INTO provider_calls (run_id, path, node_id, turn, ordinal, state, attempts, provider, model, project_id, price_usd,
      reserved_usd, input_tokens, output_tokens, is_estimated, sent_at, replied_at)
    SELECT run_id, path, node_id, turn, -attempts, 'cut', attempts, provider, model, project_id, coalesce(reserved_usd, 0),
      reserved_usd, input_tokens, output_tokens, true, sent_at, clock_timestamp()
    FROM on_wire
    ON CONFLICT DO NOTHING
  ), cut_calls AS (
    UPDATE provider_calls AS call SET state = 'refused', replied_at = clock_timestamp(), reserved_usd = NULL
    FROM on_wire
    WHERE call.run_id = on_wire.run_id AND call.path = on_wire.path AND call.node_id = on_wire.node_id
      AND call.turn = on_wire.turn AND call.ordinal = 0
  )`;

/**
 * Members of the WITH list of a statement that closes nodes from outside: the model calls on the wire of those in `closed` are
 * charged as cut off.
 */
export function callsOfClosed(runId: string): RawBuilder<unknown> {
  return sql`
    on_wire AS (
      SELECT call.* FROM provider_calls AS call JOIN closed ON closed.path = call.path AND closed.node_id = call.node_id
      WHERE call.run_id = ${runId} AND call.state = 'sent' AND ${isModelCall} FOR UPDATE OF call
    ), ${chargedCalls}`;
}

/** Charges the model calls on the wire of a run, or of one node of it, as cut off. */
export async function cutCallsOnWire(
  db: Db,
  { runId, path, nodeId }: { runId: string } & Partial<NodeKey>,
): Promise<void> {
  const ofNode = nodeId === undefined ? sql`` : sql`AND path = ${path} AND node_id = ${nodeId}`;
  await sql`
    WITH on_wire AS (
      SELECT * FROM provider_calls WHERE run_id = ${runId} ${ofNode} AND state = 'sent' AND ${isModelCall} FOR UPDATE
    ), ${chargedCalls}
    SELECT`.execute(db);
}

/** What the other side counted (JSON text), and what that costs. */
export interface PaidCall {
  usage: string | null;
  priceUsd: string | null;
  tokens: TokenCounts | null;
  /** Nobody has counted: tokens and price are estimated. */
  isEstimated: boolean;
}

/** The usage and price of a call that nobody pays for. */
export const UNPAID: PaidCall = { usage: null, priceUsd: null, tokens: null, isEstimated: false };

/**
 * For the answer to a call, in the transaction that records it. What a call has cost stays reserved until its node has a
 * transaction, which has it then. An answer that comes after its attempt was charged as cut off takes the place of that.
 */
export async function markCallApplied(db: Db, call: OwnCall, paid: PaidCall): Promise<void> {
  const { runId, path, nodeId, ordinal = 0, attempt } = call;
  const { usage, priceUsd, tokens, isEstimated } = paid;
  const update = sql`
    UPDATE provider_calls
    SET state = 'applied', replied_at = clock_timestamp(), usage = ${usage}, price_usd = ${priceUsd},
      input_tokens = ${tokens?.input ?? null}, output_tokens = ${tokens?.output ?? null}, is_estimated = ${isEstimated},
      reserved_usd = CASE WHEN NOT EXISTS (
        SELECT FROM billing_transactions AS paid
        WHERE paid.run_id = ${runId} AND paid.path = ${path} AND paid.node_id = ${nodeId}
      ) THEN nullif(${priceUsd}::numeric, 0) END
    WHERE ${isOfTurn(call)} AND ((${isOnWire(call)})
      OR (${ordinal} = 0 AND ordinal = ${-attempt} AND state = 'cut'))`;
  const { numAffectedRows } = await update.execute(db);
  // Whoever has cut the call off meanwhile has written a row that the statement did not see.
  if (numAffectedRows === 0n) await update.execute(db);
}

/**
 * Frees what the calls of a run, or of one node of it, hold of the limits: its transactions have it. The deltas of their answers
 * go with that, because the results have them.
 */
export async function releaseCalls(
  db: Db,
  { runId, path, nodeId }: { runId: string } & Partial<NodeKey>,
): Promise<void> {
  await db
    .with('told_deltas', (told) =>
      told
        .deleteFrom('run_deltas')
        .where('run_id', '=', runId)
        .$if(nodeId !== undefined, (deltas) => deltas.where('path', '=', path!).where('node_id', '=', nodeId!)),
    )
    .updateTable('provider_calls')
    .set({ reserved_usd: null })
    .where('run_id', '=', runId)
    .$if(nodeId !== undefined, (calls) => calls.where('path', '=', path!).where('node_id', '=', nodeId!))
    .where('reserved_usd', 'is not', null)
    .execute();
}

export interface LedgerSum {
  /** USD, exact decimal. */
  usd: string;
  isEstimated: boolean;
}

/** Returns the sum of the prices of a node's calls so far. */
export async function sumCallPrices(db: Db, { runId, path, nodeId }: NodeKey): Promise<LedgerSum> {
  const { rows } = await sql<LedgerSum>`
    SELECT coalesce(sum(price_usd), 0) AS usd, coalesce(bool_or(is_estimated), false) AS "isEstimated" FROM provider_calls
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`.execute(db);
  return rows[0]!;
}
