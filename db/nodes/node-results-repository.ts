// Claims nodes, reads their outputs and errors, and records how they ended (`node_results`).
import { sql, type RawBuilder } from 'kysely';
import { closedRequests } from './close-requests.js';
import { keyColumns } from './key-columns.js';
import type { NodeKind } from '../../graph/kinds.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { valueStartOf } from './run-output.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import { lazily } from '../core/lazily.js';
import { callsOfClosed } from './provider-calls-repository.js';
import { resultBytes } from './result-bytes.js';
import type { NodeStatus } from '../core/tables.js';
import { anyOf } from '../core/statement.js';

export interface NodeClaim {
  status: NodeStatus;
  /** The handle by which the run leaves the node, as its number in the kind; 0 is the ordinary links. */
  handle: Handle;
  alsoHandles: Handle[] | null;
  errorCode: string | null;
  attempts: number;
  /** The number of attempts that do not count against the retries of the node (`node_results.spared`). */
  spared: number;
  /** True if workers died while they executed the node: it must not run before `startIsolated`. */
  isHeld: boolean;
}

export interface ClaimedWork {
  /** The name of the step. A claim for the same step is a new attempt; a claim for another step of an agent is not. */
  step?: string | null;
  queuedMs?: number | null;
  /** The id of the worker process. Without it the death of the worker is not detected. */
  worker?: string | null;
}

const isSameStep = sql`node.status = 'in progress' AND node.step IS NOT DISTINCT FROM excluded.step`;
/** A held node has not started its attempt. */
const isHeld = sql`${isSameStep} AND node.isolation IS NOT DISTINCT FROM 'waits'`;
const isRepeat = sql`${isSameStep} AND node.isolation IS DISTINCT FROM 'waits'`;

const claimColumns = sql`status, handle, also_handles AS "alsoHandles", error_code AS "errorCode", attempts, spared,
  coalesce(status = 'in progress' AND isolation = 'waits', false) AS "isHeld"`;

/**
 * Marks the node as started, or returns the end that an earlier attempt recorded. Returns undefined if the run has
 * ended or is unknown. A database that crashes may lose the claim: then the attempt is not counted. A database trigger
 * copies to `node_attempts` an earlier attempt that has not ended, and holds a node whose workers died.
 *
 * The key of the run's row is locked first; the foreign key would lock it last. So the end of a run, which closes the
 * nodes in progress, waits for the claim, and a claim that waits for the end finds the run closed.
 */
export async function claimNode(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { step = null, queuedMs = null, worker = null }: ClaimedWork = {},
): Promise<NodeClaim | undefined> {
  const { rows } = await sql<NodeClaim>`
    ${insertClaims(sql`
      SELECT id, ${path}, ${nodeId}, 'in progress', ${step}, ${queuedMs}::integer, ${worker}::uuid
      FROM runs WHERE id = ${runId} AND status = 'In Progress'
      FOR KEY SHARE`)}, ${notifyWatchers(runId)}`.execute(db);
  return rows[0];
}

/** The statement that claims the nodes that `rows` selects. Further columns to return may follow it. */
export function insertClaims(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO node_results AS node (run_id, path, node_id, status, step, queued_ms, worker)
    ${rows}
    ON CONFLICT (run_id, path, node_id) DO UPDATE
      SET attempts = greatest(1, node.attempts + CASE WHEN ${isRepeat} THEN 1 ELSE 0 END),
        attempt_started_at = CASE WHEN ${isRepeat} THEN clock_timestamp() ELSE node.attempt_started_at END,
        worker = CASE WHEN ${isHeld} THEN NULL ELSE excluded.worker END,
        isolation = CASE WHEN ${isHeld} THEN 'waits' END,
        step = excluded.step,
        queued_ms = coalesce(node.queued_ms, excluded.queued_ms)
    RETURNING ${claimColumns}, ${lazily}`;
}

/** Starts the attempt of a held node. Returns false if another process has started it, or the node has ended. */
export async function startIsolated(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { attempts, worker }: { attempts: number; worker: string },
): Promise<boolean> {
  const { rows } = await sql`
    UPDATE node_results SET isolation = 'runs', worker = ${worker}::uuid, attempt_started_at = clock_timestamp()
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND status = 'in progress'
      AND isolation = 'waits' AND attempts = ${attempts}
    RETURNING node_id`.execute(db);
  return rows.length > 0;
}

/** Removes an attempt that has done nothing from the count. */
export async function uncountNodeAttempt(db: Db, { runId, path, nodeId }: NodeKey, number: number): Promise<void> {
  await sql`
    UPDATE node_results SET attempts = attempts - 1
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND status = 'in progress'
      AND attempts = ${number}`.execute(db);
}

/**
 * Marks a step of an agent that waits for the runs of its tool calls. When the node is claimed for the step again, that
 * is not another attempt.
 */
export async function leaveStep(db: Db, { runId, path, nodeId }: NodeKey, step: string): Promise<void> {
  await sql`
    UPDATE node_results SET step = ${`${step}/left`}
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND status = 'in progress' AND step = ${step}`.execute(
    db,
  );
}

/** Reads the claim of a node without counting an attempt. */
export async function findNodeClaim(db: Db, { runId, path, nodeId }: NodeKey): Promise<NodeClaim | undefined> {
  const { rows } = await sql<NodeClaim>`
    SELECT ${claimColumns} FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`.execute(db);
  return rows[0];
}

export interface StoredOutput {
  nodeId: string;
  /** The size of the masked or the sealed form, whichever is larger. */
  sizeBytes: number;
  /** True if the output was not read because it is large: use `readOutput`. */
  isLarge: boolean;
  result: string | null;
  /** The unmasked result, sealed; null if masking has changed nothing. */
  resultEnc: Buffer | null;
}

const LARGE_OUTPUT_BYTES = 64 * 1024;

/**
 * Returns the outputs of the nodes among `nodeIds` that have succeeded in the iteration, but only
 * the size of large ones.
 */
export async function findOutputs(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: string[],
): Promise<StoredOutput[]> {
  if (nodeIds.length === 0) return [];
  const { rows } = await sql<StoredOutput>`
    SELECT node_id AS "nodeId", size AS "sizeBytes", size > ${LARGE_OUTPUT_BYTES} AS "isLarge",
      CASE WHEN size <= ${LARGE_OUTPUT_BYTES} THEN result::text END AS result,
      CASE WHEN size <= ${LARGE_OUTPUT_BYTES} THEN result_enc END AS "resultEnc"
    FROM node_results, LATERAL (SELECT greatest(${resultBytes}, octet_length(result_enc)) AS size) AS measured
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ANY(${nodeIds}) AND status = 'succeed'`.execute(db);
  return rows;
}

/** Reads a large output. Returns undefined if it has expired meanwhile. */
export async function readOutput(
  db: Db,
  { runId, path, nodeId }: NodeKey,
): Promise<Pick<StoredOutput, 'result' | 'resultEnc'> | undefined> {
  const { rows } = await sql<Pick<StoredOutput, 'result' | 'resultEnc'>>`
    SELECT CASE WHEN result_enc IS NULL THEN result::text END AS result, result_enc AS "resultEnc" FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND result IS NOT NULL`.execute(db);
  return rows[0];
}

export interface NodeEndRow extends NodeKey {
  kind: NodeKind;
  label: string;
  projectId: number;
  userId: number;
  status: 'succeed' | 'failed';
  /** The duration of this attempt: the node started this long before its end, unless its row has an earlier start. */
  tookMs: number;
  handle: Handle;
  alsoHandles: Handle[] | null;
  /** JSON text; null for a failed node. */
  result: string | null;
  resultEnc: Buffer | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** True if the run survives the failure of the node. */
  isHandled: boolean;
  amountUsd: string;
  priceVersion: string;
  /** True if any part of the amount is estimated. */
  isEstimated: boolean;
  reason: string;
}

/**
 * Records the end of a node together with its transaction, and closes the node's request in the ledger, in one
 * statement. Idempotent: it changes neither an ended node nor an ended run, but still writes or corrects the node's
 * transaction if money was spent (`insertPayments`). Returns true if it has recorded the end, false if the node or the
 * run had ended. `recordPaidEnd` records the ends of nodes that call models.
 *
 * Locks the run before the node, as the end of a run does, so that the two cannot deadlock.
 */
export async function recordNodeEnd(db: Db, end: NodeEndRow): Promise<boolean> {
  const output = outputOf(end);
  const { rows } = await sql<{ isSettled: boolean }>`
    WITH open_run AS (
      SELECT id FROM runs WHERE id = ${end.runId} AND status = 'In Progress' FOR KEY SHARE
    ), settled AS (
      ${endNode(end, sql`open_run`)}
    ), ${output ?? sql``} closed AS (
      UPDATE provider_calls SET state = 'applied', replied_at = clock_timestamp()
      WHERE run_id = ${end.runId} AND path = ${end.path} AND node_id = ${end.nodeId} AND turn = 0 AND ordinal = 0
        AND state = 'sent' AND model IS NULL
    ), paid AS (
      ${payNode(end, sql`${end.amountUsd}::numeric > 0 OR EXISTS (SELECT FROM open_run)`)}
    )
    SELECT EXISTS (SELECT FROM settled) AS "isSettled", ${notifyWatchers(end.runId)}`.execute(db);
  return rows[0]?.isSettled === true;
}

/**
 * The statement that ends a node. `run` is a table expression with the `id` of the run, empty if its nodes
 * may not end any more.
 */
export function endNode(end: NodeEndRow, run: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertEnds(sql`
    SELECT run.id, ${end.path}, ${end.nodeId}, ${end.status}, ${end.handle}, ${end.alsoHandles}, ${end.result},
      ${end.result === null ? null : Buffer.byteLength(end.result)}, ${end.resultEnc}, ${end.errorCode},
      ${end.errorMessage}, ${end.isHandled}, clock_timestamp() - make_interval(secs => ${end.tookMs / 1000}), clock_timestamp()
    FROM ${run} AS run`);
}

/** The statement that ends the nodes that `rows` selects, except those that have ended. */
export function insertEnds(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO node_results AS node
      (run_id, path, node_id, status, handle, also_handles, result, result_bytes, result_enc, error_code, error_message,
        is_handled, started_at, finished_at)
    ${rows}
    ON CONFLICT (run_id, path, node_id) DO UPDATE SET
      status = excluded.status, handle = excluded.handle, also_handles = excluded.also_handles,
      result = excluded.result,
      result_bytes = excluded.result_bytes, result_enc = excluded.result_enc,
      error_code = excluded.error_code, error_message = excluded.error_message, is_handled = excluded.is_handled,
      started_at = least(node.started_at, excluded.started_at), finished_at = excluded.finished_at
    WHERE node.status = 'in progress'
    RETURNING node.run_id, node.path, node.node_id`;
}

/**
 * The first output node to end sets the output of the run. A concurrent one waits here for the first to commit,
 * and changes nothing.
 */
function outputOf(end: NodeEndRow): RawBuilder<unknown> | undefined {
  if (end.kind !== 'output' || end.result === null) return undefined;
  return sql`given AS (
      INSERT INTO run_outputs (run_id, path, node_id, value_start)
      SELECT ${end.runId}, ${end.path}, node_id, ${valueStartOf(end.result)} FROM settled
      ON CONFLICT (run_id) DO NOTHING
    ),`;
}

/** The statement that writes the transaction of a node. */
export function payNode(end: NodeEndRow, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertPayments(sql`
    SELECT ${end.runId}, ${end.path}, ${end.nodeId}, ${end.projectId}, ${end.userId}, ${end.kind},
      ${end.status === 'succeed' ? 'Succeeded' : 'Error'}, ${end.amountUsd}, ${end.isEstimated}, ${end.priceVersion},
      ${end.reason}, ${end.label}
    WHERE ${condition}`);
}

/**
 * The statement that writes the transactions that `rows` selects. It corrects a transaction that the end of the run
 * wrote with amount 0 or without the version of the price list.
 */
export function insertPayments(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO billing_transactions AS paid
      (run_id, path, node_id, project_id, user_id, operation, status, amount_usd, is_estimated, price_version, reason,
        description)
    ${rows}
    ON CONFLICT (run_id, path, node_id, operation) DO UPDATE SET
      amount_usd = greatest(paid.amount_usd, excluded.amount_usd), price_version = excluded.price_version,
      updated_at = clock_timestamp()
    WHERE excluded.amount_usd > 0 AND (paid.amount_usd = 0 OR paid.price_version = '')`;
}

/** The messages of failures that no activity has recorded, by error code. Other codes get a general message. */
const SENTENCES: Partial<Record<string, string>> = {
  worker_unavailable:
    'No worker took the node in time. Its setting `schedule_timeout` says how long it may wait for one.',
};

/**
 * Fails a node whose activity could not record the failure, and ends the requests and waits of the node
 * (`closedRequests`). Idempotent; a node that has ended is not changed. The end of the run writes the node's
 * transaction. `isHandled`: the run survives the failure.
 */
export async function closeNode(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { code, isHandled }: { code: string; isHandled: boolean },
): Promise<void> {
  const message = SENTENCES[code] ?? `The node failed: ${code}.`;
  const ofClosed = sql`run_id = ${runId} AND (path, node_id) IN (SELECT path, node_id FROM closed)`;
  await sql`
    WITH closed AS (
      INSERT INTO node_results AS node (run_id, path, node_id, status, error_code, error_message, is_handled, finished_at)
      SELECT id, ${path}, ${nodeId}, 'failed', ${code}, ${message}, ${isHandled}, clock_timestamp()
      FROM runs WHERE id = ${runId} AND status = 'In Progress'
      FOR KEY SHARE
      ON CONFLICT (run_id, path, node_id) DO UPDATE
        SET status = 'failed', error_code = excluded.error_code, error_message = excluded.error_message,
          is_handled = excluded.is_handled, finished_at = excluded.finished_at
        WHERE node.status = 'in progress'
      RETURNING path, node_id
    ), ${callsOfClosed(runId)}, ${closedRequests(ofClosed)}
    SELECT ${notifyWatchers(runId)} FROM closed`.execute(db);
}

export interface StoredError {
  nodeId: string;
  code: string;
  /** The text that readers see, secrets masked. */
  message: string;
}

export async function findNodeErrors(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: string[],
): Promise<StoredError[]> {
  if (nodeIds.length === 0) return [];
  const failed = await db
    .selectFrom('node_results')
    .select(['node_id as nodeId', 'error_code as code', 'error_message as message'])
    .where('run_id', '=', runId)
    .where('path', '=', path)
    .where('node_id', '=', anyOf(nodeIds))
    .where('status', '=', 'failed')
    .execute();
  return failed.map(({ nodeId, code, message }) => ({ nodeId, code: code ?? 'failed', message: message ?? '' }));
}

export async function findNodeError(db: Db, key: NodeKey): Promise<string | undefined> {
  const failed = await db
    .selectFrom('node_results')
    .select('error_message')
    .where((row) => row.and(keyColumns(key)))
    .where('status', '=', 'failed')
    .executeTakeFirst();
  return failed?.error_message ?? undefined;
}
