// The worker's side of `node_results`: claim a node, look up what others put out, record how it ended.
import { sql, type RawBuilder } from 'kysely';
import { keyColumns } from './key-columns.js';
import type { NodeKind } from '../../graph/kinds.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { valueStartOf } from './run-output.js';
import { tellWatchers } from '../watches/tell-watchers.js';
import { lazily } from '../core/lazily.js';
import { callsOfClosed } from './provider-calls-repository.js';
import { resultBytes } from './result-bytes.js';
import type { NodeStatus } from '../core/tables.js';

export interface NodeClaim {
  status: NodeStatus;
  /** Which links are taken, by the number of the kind's named handle; 0 for the ordinary ones. */
  handle: Handle;
  /** Further handles whose links are taken, too. */
  alsoHandles: Handle[] | null;
  errorCode: string | null;
  /** Attempts so far, this one included. */
  attempts: number;
  /** Those of them that do not count against the retries of the node (`node_results.spared`). */
  spared: number;
  /** Its workers died, so that it waits until `beginHeld` lets it begin. */
  isHeld: boolean;
}

/** What is known of the work when its node is claimed. */
export interface ClaimedWork {
  /** The step of the node, by the words of `node_results`: another step of an agent is no new attempt, a repeated one is. */
  step?: string | null;
  queuedMs?: number | null;
  /** The id of the worker process. Without it nobody learns of the death of the worker. */
  worker?: string | null;
}

const isSameStep = sql`node.status = 'in progress' AND node.step IS NOT DISTINCT FROM excluded.step`;
/** A node that waits for its turn has not begun its attempt. */
const isHeld = sql`${isSameStep} AND node.isolation IS NOT DISTINCT FROM 'waits'`;
const isRepeat = sql`${isSameStep} AND node.isolation IS DISTINCT FROM 'waits'`;

const claimColumns = sql`status, handle, also_handles AS "alsoHandles", error_code AS "errorCode", attempts, spared,
  coalesce(status = 'in progress' AND isolation = 'waits', false) AS "isHeld"`;

/**
 * Marks the node as started, or finds what an earlier attempt left: a settled node must not be executed again. Undefined
 * when the run is not open (ended or unknown). A database that dies may forget the claim: then the attempt is not counted.
 * A trigger keeps in `node_attempts` an earlier attempt that has left without an end, and holds a node whose
 * workers died.
 *
 * The key of the run's row is locked first, as the foreign key would do last: the end of a run, which closes what is in
 * progress, waits for the claim, and a claim that waits for the end finds the run closed.
 */
export async function claimNode(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { step = null, queuedMs = null, worker = null }: ClaimedWork = {},
): Promise<NodeClaim | undefined> {
  const { rows } = await sql<NodeClaim>`/* claim_node */
    INSERT INTO node_results AS node (run_id, path, node_id, status, step, queued_ms, worker)
    SELECT id, ${path}, ${nodeId}, 'in progress', ${step}, ${queuedMs}::integer, ${worker}::uuid
    FROM runs WHERE id = ${runId} AND status = 'In Progress'
    FOR KEY SHARE
    ON CONFLICT (run_id, path, node_id) DO UPDATE
      SET attempts = node.attempts + CASE WHEN ${isRepeat} THEN 1 ELSE 0 END,
        attempt_started_at = CASE WHEN ${isRepeat} THEN clock_timestamp() ELSE node.attempt_started_at END,
        worker = CASE WHEN ${isHeld} THEN NULL ELSE excluded.worker END,
        isolation = CASE WHEN ${isHeld} THEN 'waits' END,
        step = excluded.step
    RETURNING ${claimColumns}, ${tellWatchers(runId)}, ${lazily}`.execute(db);
  return rows[0];
}

/** Begins the attempt of a node that was held. False where another process has begun it, or its run has ended. */
export async function beginHeld(
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

/** The attempt has done nothing, and counts as none. */
export async function takeAttemptBack(db: Db, { runId, path, nodeId }: NodeKey, number: number): Promise<void> {
  await sql`
    UPDATE node_results SET attempts = attempts - 1
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND status = 'in progress'
      AND attempts = ${number}`.execute(db);
}

/** The step has ended, and waits for something before it is taken again, which is no other attempt then. */
export async function leaveStep(db: Db, { runId, path, nodeId }: NodeKey, step: string): Promise<void> {
  await sql`
    UPDATE node_results SET step = ${`${step}/left`}
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND status = 'in progress' AND step = ${step}`.execute(
    db,
  );
}

/** What earlier attempts have left of a node, without making another one. */
export async function findNodeClaim(db: Db, { runId, path, nodeId }: NodeKey): Promise<NodeClaim | undefined> {
  const { rows } = await sql<NodeClaim>`/* find_node */
    SELECT ${claimColumns} FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}`.execute(db);
  return rows[0];
}

export interface StoredOutput {
  nodeId: string;
  /** The size of the JSON text. */
  sizeBytes: number;
  /** Then it is not here: `readOutput` has it. */
  isLarge: boolean;
  /** JSON text of the result with secrets masked. */
  result: string | null;
  /** The unmasked result, sealed; null when there is nothing to unmask. */
  resultEnc: Buffer | null;
}

const LARGE_OUTPUT_BYTES = 64 * 1024;

/** Outputs of the succeeded ones among `nodeIds` of an iteration; of the large ones, how large they are. */
export async function findOutputs(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: string[],
): Promise<StoredOutput[]> {
  if (nodeIds.length === 0) return [];
  const { rows } = await sql<StoredOutput>`/* find_outputs */
    SELECT node_id AS "nodeId", size AS "sizeBytes", size > ${LARGE_OUTPUT_BYTES} AS "isLarge",
      CASE WHEN size <= ${LARGE_OUTPUT_BYTES} THEN result::text END AS result,
      CASE WHEN size <= ${LARGE_OUTPUT_BYTES} THEN result_enc END AS "resultEnc"
    FROM node_results, LATERAL (SELECT greatest(${resultBytes}, octet_length(result_enc)) AS size) AS measured
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ANY(${nodeIds}) AND status = 'succeed'`.execute(db);
  return rows;
}

/** A large one. Undefined when it has expired meanwhile. */
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
  /** The length of this attempt: a node that was marked as begun later, or not at all, has begun with it. */
  tookMs: number;
  /** The handle by which the node is left; `NodeClaim` says more. */
  handle: Handle;
  alsoHandles: Handle[] | null;
  /** JSON text; null for a failed node. */
  result: string | null;
  resultEnc: Buffer | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** Whether the run survives the failure of the node. */
  isHandled: boolean;
  amountUsd: string;
  priceVersion: string;
  /** The amount, or a part of it, is estimated. */
  isEstimated: boolean;
  reason: string;
}

/**
 * Records the end of a node together with its transaction and closes its request in the ledger, in one statement: all or
 * nothing. Idempotent; a node that has settled stays as it is, and so does a run that has ended, but money spent is still
 * added to the node's transaction. Whether it is this end that the node has now; a repeat answers false. The end of a node
 * that calls models is recorded by `recordPaidEnd`.
 *
 * It locks the run before the node, as the end of a run does: neither waits for the other in a circle.
 */
export async function recordNodeEnd(db: Db, end: NodeEndRow): Promise<boolean> {
  const output = outputOf(end);
  // A prepared statement of a name has one text.
  const name = sql.raw(output === undefined ? '/* record_node */' : '/* record_output */');
  const { rows } = await sql<{ isSettled: boolean }>`${name}
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
    SELECT EXISTS (SELECT FROM settled) AS "isSettled", ${tellWatchers(end.runId)}`.execute(db);
  return rows[0]?.isSettled === true;
}

/**
 * An expression that writes the end of a node which has not settled, and returns the node. `run`: a table expression that
 * has the run, by its `id`, if its nodes may still settle.
 */
export function endNode(end: NodeEndRow, run: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO node_results AS node
      (run_id, path, node_id, status, handle, also_handles, result, result_bytes, result_enc, error_code, error_message,
        is_handled, started_at, finished_at)
    SELECT run.id, ${end.path}, ${end.nodeId}, ${end.status}, ${end.handle}, ${end.alsoHandles}, ${end.result},
      ${end.result === null ? null : Buffer.byteLength(end.result)}, ${end.resultEnc}, ${end.errorCode},
      ${end.errorMessage}, ${end.isHandled}, clock_timestamp() - make_interval(secs => ${end.tookMs / 1000}), clock_timestamp()
    FROM ${run} AS run
    ON CONFLICT (run_id, path, node_id) DO UPDATE SET
      status = excluded.status, handle = excluded.handle, also_handles = excluded.also_handles,
      result = excluded.result,
      result_bytes = excluded.result_bytes, result_enc = excluded.result_enc,
      error_code = excluded.error_code, error_message = excluded.error_message, is_handled = excluded.is_handled,
      started_at = least(node.started_at, excluded.started_at), finished_at = excluded.finished_at
    WHERE node.status = 'in progress'
    RETURNING node_id`;
}

/**
 * The end of the run's first output node gives the run its output. Another one that ends at the same time waits here for
 * the commit of the first, and changes nothing.
 */
function outputOf(end: NodeEndRow): RawBuilder<unknown> | undefined {
  if (end.kind !== 'output' || end.result === null) return undefined;
  return sql`given AS (
      INSERT INTO run_outputs (run_id, path, node_id, value_start)
      SELECT ${end.runId}, ${end.path}, node_id, ${valueStartOf(end.result)} FROM settled
      ON CONFLICT (run_id) DO NOTHING
    ),`;
}

/**
 * An expression that writes the transaction of a node if the condition holds. It corrects the 0 that the end of the run has
 * written, and the sum of an agent that was written without a price list.
 */
export function payNode(end: NodeEndRow, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO billing_transactions AS paid
      (run_id, path, node_id, project_id, user_id, operation, status, amount_usd, is_estimated, price_version, reason,
        description)
    SELECT ${end.runId}, ${end.path}, ${end.nodeId}, ${end.projectId}, ${end.userId}, ${end.kind},
      ${end.status === 'succeed' ? 'Succeeded' : 'Error'}, ${end.amountUsd}, ${end.isEstimated}, ${end.priceVersion},
      ${end.reason}, ${end.label}
    WHERE ${condition}
    ON CONFLICT (run_id, path, node_id, operation) DO UPDATE SET
      amount_usd = greatest(paid.amount_usd, excluded.amount_usd), price_version = excluded.price_version,
      updated_at = clock_timestamp()
    WHERE excluded.amount_usd > 0 AND (paid.amount_usd = 0 OR paid.price_version = '')`;
}

/**
 * Closes a node whose activity could not record its failure (Temporal gave it up). A node that has settled keeps its end.
 * Idempotent. Its transaction is written with the end of the run, as for every node that has none. `isHandled`: the run
 * survives it.
 */
export async function closeNode(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { code, isHandled }: { code: string; isHandled: boolean },
): Promise<void> {
  const message = `The node failed: ${code}.`;
  await sql`/* close_node */
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
    ), ${callsOfClosed(runId)}
    SELECT ${tellWatchers(runId)} FROM closed`.execute(db);
}

export interface StoredError {
  nodeId: string;
  code: string;
  /** The text that readers see, secrets masked. */
  message: string;
}

/** Returns the errors of the failed ones among `nodeIds` of an iteration. */
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
    .where('node_id', 'in', nodeIds)
    .where('status', '=', 'failed')
    .execute();
  return failed.map(({ nodeId, code, message }) => ({ nodeId, code: code ?? 'failed', message: message ?? '' }));
}

/** The recorded message of a failed node; undefined when it has not (or not yet) failed. */
export async function findNodeError(db: Db, key: NodeKey): Promise<string | undefined> {
  const failed = await db
    .selectFrom('node_results')
    .select('error_message')
    .where((row) => row.and(keyColumns(key)))
    .where('status', '=', 'failed')
    .executeTakeFirst();
  return failed?.error_message ?? undefined;
}
