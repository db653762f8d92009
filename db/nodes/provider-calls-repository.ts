// The ledger: calls that cost money or must not be repeated. An attempt claims each call before it is sent, and the
// call is closed when its answer or the end of the node is recorded. A later attempt that finds a call in state `sent`
// cannot know its outcome: the earlier attempt has not recorded it, because its worker died, was frozen or was stopped,
// or could not reach the database. Only the latest attempt to claim a call may change it: an earlier attempt, whose
// worker was frozen, changes nothing.
import { sql, type RawBuilder } from 'kysely';
import { keyColumns } from './key-columns.js';
import type { Db } from '../core/client.js';
import type { NodeKey } from '../../graph/plan.js';

/**
 * True for model calls. Tool calls of agents follow the model call of their turn and have the tool's name in `model`.
 * Requests of other nodes have no `model`.
 */
export const isModelCall = sql<boolean>`(model IS NOT NULL AND ordinal <= 0)`;

export interface CallClaim {
  /**
   * True if the request may be sent. False if an earlier one may have reached the provider and must not be repeated.
   */
  isAllowed: boolean;
  attempts: number;
  crashes: number;
  /** True if somebody reads the deltas of the run. */
  hasReaders: boolean;
}

/**
 * A node that makes one call omits turn and ordinal. The model call of an agent's turn has ordinal 0, and the tool
 * calls follow.
 */
interface CallKey extends NodeKey {
  turn?: number;
  ordinal?: number;
}

/** Identifies a call together with the attempt that has claimed it (`CallClaim.attempts`). */
export interface OwnCall extends CallKey {
  attempt: number;
}

export interface NewCall extends CallKey {
  provider: string | null;
  model: string | null;
  /** True if the call may be made again although its outcome is unknown. */
  mayRepeat: boolean;
}

/**
 * Claims a call; commits before the request is sent. A single statement, so that two workers cannot both be allowed to
 * make a call that must not be repeated.
 */
export async function claimCall(db: Db, call: NewCall): Promise<CallClaim> {
  const { rows } = await sql<Omit<CallClaim, 'isAllowed'>>`${claimOf(call)}`.execute(db);
  return toClaim(rows[0]);
}

/** `made` is undefined if nothing was claimed. */
export function toClaim(made: Omit<CallClaim, 'isAllowed'> | undefined): CallClaim {
  return { isAllowed: made !== undefined, attempts: 0, crashes: 0, hasReaders: false, ...made };
}

export interface TokenCounts {
  input: number;
  output: number;
}

/** The amounts that a paid call reserves in advance. */
interface Reservation {
  projectId: number;
  usd: string;
  tokens: TokenCounts;
}

/**
 * The insert of a claim. If `source`, a FROM clause, yields no row, nothing is claimed. Returns the columns of
 * `CallClaim` if the call may be made.
 */
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
 * Returns true if an earlier attempt left a call in flight. The asking attempt has not made that call, so its outcome
 * is unknown.
 */
export async function isCallInFlight(
  db: Db,
  { runId, path, nodeId, turn = 0, ordinal = 0 }: CallKey,
): Promise<boolean> {
  const call = await db
    .selectFrom('provider_calls')
    .select('state')
    .where((row) => row.and({ ...keyColumns({ runId, path, nodeId }), turn, ordinal, state: 'sent' }))
    .executeTakeFirst();
  return call !== undefined;
}

/** A condition that selects the node's rows of this turn. */
function matchesCall({ runId, path, nodeId, turn = 0 }: CallKey): RawBuilder<unknown> {
  return sql`run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND turn = ${turn}`;
}

/** A condition on the rows of a turn: the call is in flight and claimed by this attempt. */
function isOnWire({ ordinal = 0, attempt }: OwnCall): RawBuilder<unknown> {
  return sql`ordinal = ${ordinal} AND attempts = ${attempt} AND state = 'sent'`;
}

/**
 * Marks a call that may be repeated: the other side refused or never received it, or its repetition has no further
 * effect.
 */
export async function markCallRefused(db: Db, call: OwnCall): Promise<void> {
  await sql`
    UPDATE provider_calls SET state = 'refused', replied_at = clock_timestamp(), reserved_usd = NULL
    WHERE ${matchesCall(call)} AND ${isOnWire(call)}`.execute(db);
}

/** Marks a claimed call that was not carried out. It may be claimed again, and does not count as an attempt. */
export async function uncountCall(db: Db, call: OwnCall): Promise<void> {
  await sql`
    UPDATE provider_calls SET state = 'refused', replied_at = clock_timestamp(), attempts = attempts - 1
    WHERE ${matchesCall(call)} AND ${isOnWire(call)}`.execute(db);
}

/**
 * Marks a model call that was sent and not answered: its provider may charge it, so it costs the reserved amount, as an
 * estimate. It may be made again (docs/use/spending.md, "How it is reckoned").
 */
export async function markCallCut(db: Db, call: OwnCall): Promise<void> {
  await sql`
    WITH on_wire AS (
      SELECT * FROM provider_calls WHERE ${matchesCall(call)} AND ${isOnWire(call)} FOR UPDATE
    ), ${chargedCalls}
    SELECT`.execute(db);
}

/**
 * Members of a WITH list that charge the model calls of `on_wire` as cut off. The price of each is a separate row
 * keyed by the attempt (`-attempts`), so that it is written once and a late answer to that attempt finds it. The
 * amount stays reserved until the node's transaction includes it.
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
 * For the WITH list of a statement that closes nodes from outside: charges the in-flight model calls of the nodes in
 * `closed` as cut off.
 */
export function callsOfClosed(runId: string): RawBuilder<unknown> {
  return sql`
    on_wire AS (
      SELECT call.* FROM provider_calls AS call JOIN closed ON closed.path = call.path AND closed.node_id = call.node_id
      WHERE call.run_id = ${runId} AND call.state = 'sent' AND ${isModelCall} FOR UPDATE OF call
    ), ${chargedCalls}`;
}

/** Charges the in-flight model calls of a run, or of one of its nodes, as cut off. */
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

/** Usage as the provider reported it (JSON text), and its price. */
export interface PaidCall {
  usage: string | null;
  priceUsd: string | null;
  tokens: TokenCounts | null;
  /** True if the provider did not report both token counts: what is missing, and the price, are estimated. */
  isEstimated: boolean;
}

/** The cost of calls that are free of charge. */
export const UNPAID: PaidCall = { usage: null, priceUsd: null, tokens: null, isEstimated: false };

/**
 * Marks a call as answered, in the transaction that records the answer. The price stays reserved until the node's
 * transaction includes it. If the attempt was already charged as cut off, the answer replaces that charge.
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
    WHERE ${matchesCall(call)} AND ((${isOnWire(call)})
      OR (${ordinal} = 0 AND ordinal = ${-attempt} AND state = 'cut'))`;
  const { numAffectedRows } = await update.execute(db);
  // A concurrent statement may have cut the call off and inserted a row that this snapshot did not see.
  if (numAffectedRows === 0n) await update.execute(db);
}

/**
 * Releases the reservations of the calls of a run, or of one of its nodes, and deletes the deltas of the answers,
 * because the results contain the answers. Belongs in the database transaction that stores the amounts as billing
 * transactions.
 */
export async function releaseCalls(
  db: Db,
  { runId, path, nodeId }: { runId: string } & Partial<NodeKey>,
): Promise<void> {
  await db
    .with('reported_deltas', (deltas) =>
      deltas
        .deleteFrom('run_deltas')
        .where('run_id', '=', runId)
        .$if(nodeId !== undefined, (own) => own.where('path', '=', path!).where('node_id', '=', nodeId!)),
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
  /** The model of the calls, masked. Null if the node has made no model call. */
  model: string | null;
}

export async function sumCallPrices(db: Db, { runId, path, nodeId }: NodeKey): Promise<LedgerSum> {
  const { rows } = await sql<LedgerSum>`
    SELECT coalesce(sum(price_usd), 0) AS usd, coalesce(bool_or(is_estimated), false) AS "isEstimated",
      max(model) FILTER (WHERE ${isModelCall}) AS model
    FROM provider_calls WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`.execute(db);
  return rows[0]!;
}
