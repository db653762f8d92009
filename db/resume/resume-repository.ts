// Reads earlier runs that are to be resumed, or from which tests, pins and cases take something, and copies their
// results.
import { sql, type RawBuilder } from 'kysely';
import { iterationPath, iterationsPrefix } from '../../graph/iteration-path.js';
import type { NodeKey, Plan } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';
import type { RunPurpose, StoredRunStatus } from '../core/tables.js';
import { copyReferences } from '../files/references-repository.js';
import { endedColumns, isDirectlyIn, type EndedNode } from '../nodes/reused-results-repository.js';
import { refuseBeyondQuota } from '../projects/stored-bytes-repository.js';
import { isExpired } from '../retention/retention-repository.js';
import { NODE_ITSELF } from '../runs/child-runs-repository.js';
import { resealCopies } from './reseal-copies.js';
import type { StoredRunContext } from '../runs/run-context-repository.js';

export interface EarlierRun extends Pick<StoredRunContext, 'input' | 'inputEnc' | 'secretsEnc' | 'passedSecretsEnc'> {
  id: string;
  workflowId: number;
  workflowVersion: number | null;
  projectId: number;
  status: StoredRunStatus;
  purpose: RunPurpose;
  isExpired: boolean;
  snapshotHash: Buffer;
  document: Record<string, unknown>;
  plan: Plan;
}

export async function findEarlierRun(db: Db, runId: string, retentionDays: number): Promise<EarlierRun | undefined> {
  const { rows } = await sql<EarlierRun>`
    SELECT runs.id, workflow_id AS "workflowId", workflow_version AS "workflowVersion", project_id AS "projectId", status, purpose,
      ${isExpired(retentionDays)} AS "isExpired", snapshot_hash AS "snapshotHash", graph.document, graph.plan,
      input::text AS input, input_enc AS "inputEnc", secrets_enc AS "secretsEnc", passed_secrets_enc AS "passedSecretsEnc"
    FROM runs JOIN graph_snapshots AS graph ON graph.hash = runs.snapshot_hash
    WHERE runs.id = ${runId}`.execute(db);
  return rows[0];
}

/** Returns how the nodes outside loops ended. */
export async function findEndedNodes(db: Db, runId: string): Promise<EndedNode[]> {
  const { rows } = await sql<EndedNode>`
    SELECT ${endedColumns} FROM node_results WHERE run_id = ${runId} AND path = ''`.execute(db);
  return rows;
}

export interface EndAt extends EndedNode {
  path: string;
  /** True if the earlier run had itself reused the result. */
  isReused: boolean;
}

/** Returns how the nodes at exactly these paths ended. The empty path stands for the nodes outside loops. */
export async function findEndsAt(db: Db, runId: string, paths: readonly string[]): Promise<EndAt[]> {
  const { rows } = await sql<EndAt>`
    SELECT path, ${endedColumns}, is_reused AS "isReused" FROM node_results
    WHERE run_id = ${runId} AND path = ANY (${paths}::text[]) AND NOT is_iteration`.execute(db);
  return rows;
}

/** Returns the newest ended runs of a workflow, including tests, whose results have not expired. */
export async function findNewestRuns(
  db: Db,
  workflowId: number,
  { retentionDays, limit }: { retentionDays: number; limit: number },
): Promise<string[]> {
  const newest = (purpose: 'run' | 'test') => sql`(
    SELECT id, created_at FROM runs WHERE workflow_id = ${workflowId} AND purpose = ${purpose}
      AND status IN ('Succeeded', 'Error', 'Cancelled') AND NOT ${isExpired(retentionDays)}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}::integer)`;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (${newest('run')} UNION ALL ${newest('test')}) AS found
    ORDER BY created_at DESC, id DESC LIMIT ${limit}::integer`.execute(db);
  return rows.map(({ id }) => id);
}

export interface StartedIteration {
  path: string;
  isDone: boolean;
  /** The ends of the iteration's own nodes, without nodes in inner loops. */
  ends: EndedNode[];
}

/** Returns the started iterations of a loop in ascending order. */
export async function findStartedIterations(db: Db, loop: NodeKey): Promise<StartedIteration[]> {
  const { rows } = await sql<EndedNode & { path: string; isIteration: boolean }>`
    SELECT path, is_iteration AS "isIteration", ${endedColumns} FROM node_results
    WHERE run_id = ${loop.runId} AND ${isDirectlyIn(loop)}
    ORDER BY length(path), path, NOT is_iteration`.execute(db);
  const iterations = new Map<string, StartedIteration>();
  for (const { path, isIteration, ...end } of rows) {
    const known = iterations.get(path) ?? { path, isDone: false, ends: [] };
    iterations.set(path, known);
    if (isIteration) known.isDone = end.status === 'succeed';
    else known.ends.push(end);
  }
  return [...iterations.values()];
}

export interface StartedRun extends Omit<NodeKey, 'runId'> {
  childId: string;
  /** True if a sub-workflow node started the run, false if a tool call of an agent did. */
  isOfSubWorkflow: boolean;
  isAwaited: boolean;
}

export async function findStartedRuns(db: Db, runId: string): Promise<StartedRun[]> {
  const waits = await db
    .selectFrom('waits')
    .select(['path', 'node_id', 'call', 'until'])
    .select((row) => row.ref('child_run_id').$notNull().as('child_run_id'))
    .where('run_id', '=', runId)
    .where('child_run_id', 'is not', null)
    .execute();
  return waits.map(({ path, node_id: nodeId, child_run_id: childId, call, until }) => {
    return { path, nodeId, childId, isOfSubWorkflow: call === NODE_ITSELF, isAwaited: until !== null };
  });
}

export interface ReusedResults {
  nodes: NodeInRun[];
  /** The loops among `nodes`, which are reused with everything in their bodies. */
  loops: NodeInRun[];
  /** Loops that are not reused as a whole, with the indexes of the iterations that are reused completely. */
  iterations: (NodeInRun & { indexes: number[] })[];
}

export type NodeInRun = Omit<NodeKey, 'runId'>;

/**
 * Locks the earlier run until the commit, so that its results do not expire meanwhile. Returns false if they have
 * expired.
 */
export async function holdResults(transaction: Db, runId: string, retentionDays: number): Promise<boolean> {
  const { rows } = await sql<{ isExpired: boolean }>`
    SELECT ${isExpired(retentionDays)} AS "isExpired" FROM runs WHERE id = ${runId} FOR SHARE`.execute(transaction);
  return rows[0]?.isExpired === false;
}

interface TakingOver {
  to: string;
  projectId: number;
  sources: readonly ReusedSource[];
  /** True if each copy stores the id of the run it comes from, because a test reuses results of several runs. */
  storesSource?: boolean;
}

/** What is reused of one earlier run. */
export interface ReusedSource {
  from: string;
  reused: ReusedResults;
  itemsOf?: readonly NodeInRun[];
}

/**
 * Copies results and items from earlier runs to a new run of the project, but no calls and no costs. Must be called
 * once for the new run. Throws PostgreSQL's error, before anything is copied, if the project's quota does not suffice.
 */
export async function copyReused(transaction: Db, box: SecretBox, taking: TakingOver): Promise<void> {
  const { to, projectId, sources, storesSource = false } = taking;
  if (sources.length === 0) return;
  let bytes = 0;
  for (const source of sources) bytes += await measureReused(transaction, source);
  await refuseBeyondQuota(transaction, projectId, bytes);
  for (const source of sources) await copyOf(transaction, box, source, { to, storesSource });
  // The function adds the counts of all rows of the run, so a second call would count them twice.
  await sql`SELECT restore_loop_progress(${to})`.execute(transaction);
}

async function copyOf(
  transaction: Db,
  box: SecretBox,
  { from, reused, itemsOf = [] }: ReusedSource,
  { to, storesSource }: { to: string; storesSource: boolean },
): Promise<void> {
  const source = storesSource ? from : null;
  await sql`
    INSERT INTO node_results (run_id, path, node_id, status, handle, also_handles, result, result_bytes, result_enc,
      error_code, error_message, is_handled, iterations, is_iteration, started_at, finished_at, is_reused, source)
    SELECT ${to}, path, node_id, status, handle, also_handles, result, result_bytes, result_enc, error_code, error_message,
      is_handled, iterations, is_iteration, started_at, finished_at, true, ${source}
    FROM node_results WHERE ${isReusedOf(from, reused)}`.execute(transaction);
  // Copy a loop's items if something in its iterations is reused. Otherwise the loop evaluates its list again. Rows
  // that were copied from other runs do not count, because their loops may have had other items.
  await sql`
    INSERT INTO loop_items (run_id, path, node_id, index, item_enc)
    SELECT ${to}, path, node_id, index, item_enc FROM loop_items
    WHERE run_id = ${from} AND (path, node_id) IN (
      SELECT path, node_id FROM loop_progress WHERE run_id = ${from} AND prefix IN (
        SELECT beginning FROM node_results CROSS JOIN LATERAL ${beginnings('[')}
        WHERE run_id = ${to} AND path <> '' AND source IS NOT DISTINCT FROM ${source}))
    ON CONFLICT DO NOTHING`.execute(transaction);
  await sql`
    INSERT INTO run_outputs (run_id, path, node_id, value_start)
    SELECT ${to}, path, node_id, value_start FROM run_outputs
    WHERE run_id = ${from} AND EXISTS (
      SELECT FROM node_results AS taken
      WHERE taken.run_id = ${to} AND taken.path = run_outputs.path AND taken.node_id = run_outputs.node_id
        AND taken.source IS NOT DISTINCT FROM ${source})
    ON CONFLICT DO NOTHING`.execute(transaction);
  await copyItems(transaction, { from, to, itemsOf });
  await copyReferences(transaction, { kind: 'run', id: from }, { kind: 'run', id: to });
  await resealCopies(transaction, box, from, to);
}

/** A condition for the rows of `node_results` that are copied. */
function isReusedOf(from: string, { nodes, loops, iterations }: ReusedResults): RawBuilder<boolean> {
  const [paths, ids] = [nodes.map(({ path }) => path), nodes.map(({ nodeId }) => nodeId)];
  const prefixes = loops.map(({ path, nodeId }) => iterationsPrefix(path, nodeId));
  const done = iterations.flatMap(({ path, nodeId, indexes }) =>
    indexes.map((index) => iterationPath(path, nodeId, index)),
  );
  return sql`run_id = ${from} AND (
    (NOT is_iteration AND (path, node_id) IN (SELECT * FROM unnest(${paths}::text[], ${ids}::text[])))
    OR (path <> '' AND EXISTS (SELECT FROM ${beginnings('[')} WHERE beginning = ANY (${prefixes}::text[])))
    OR (path <> '' AND EXISTS (SELECT FROM ${beginnings(']')} WHERE beginning = ANY (${done}::text[]))))`;
}

async function copyItems(
  transaction: Db,
  { from, to, itemsOf }: { from: string; to: string; itemsOf: readonly NodeInRun[] },
): Promise<void> {
  if (itemsOf.length === 0) return;
  const [paths, ids] = [itemsOf.map(({ path }) => path), itemsOf.map(({ nodeId }) => nodeId)];
  await sql`
    INSERT INTO loop_items (run_id, path, node_id, index, item_enc)
    SELECT ${to}, path, node_id, index, item_enc FROM loop_items
    WHERE run_id = ${from} AND (path, node_id) IN (SELECT * FROM unnest(${paths}::text[], ${ids}::text[]))
    ON CONFLICT DO NOTHING`.execute(transaction);
}

/**
 * Returns the bytes of the results to copy. The quota is checked with their sum, because the insert of a small row may
 * not be checked by itself.
 */
async function measureReused(transaction: Db, { from, reused }: ReusedSource): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(greatest(result_bytes, octet_length(result_enc))), 0)::bigint AS bytes
    FROM node_results WHERE result IS NOT NULL AND ${isReusedOf(from, reused)}`.execute(transaction);
  return rows[0]?.bytes ?? 0;
}

/**
 * Returns a table expression with the prefixes of `path` that end with the bracket. For `A[3]/B[0]`, they are `A[` and
 * `A[3]/B[` for `[`, and `A[3]` and `A[3]/B[0]` for `]`.
 */
function beginnings(bracket: '[' | ']'): RawBuilder<unknown> {
  const end = sql.lit(bracket);
  return sql`(
    SELECT array_to_string(pieces[:number], ${end}) || ${end} AS beginning
    FROM string_to_array(path, ${end}) AS pieces, generate_series(1, cardinality(pieces) - 1) AS number
  ) AS beginnings`;
}
