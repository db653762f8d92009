// Reads and writes the items and iterations of loops. An iteration is a row of `node_results` with its own path and the
// id of its loop (db/migrations/0001-baseline/nodes.sql).
import { sql, type RawBuilder } from 'kysely';
import { iterationPath, iterationsPrefix } from '../../graph/iteration-path.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Database, Db } from '../core/client.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import { closedRequests } from './close-requests.js';
import { callsOfClosed } from './provider-calls-repository.js';
import type { StoredOutput } from './node-results-repository.js';

const ITEMS_AT_ONCE = 500;

/**
 * Stores the sealed items of a loop, all of them or none, because a repeated attempt of a test run takes the stored
 * items as the complete list (`countReusedItems`). Idempotent. Returns true if none of them was stored before.
 */
export function storeItems(db: Database, loop: NodeKey, items: Buffer[]): Promise<boolean> {
  if (items.length <= ITEMS_AT_ONCE) return insertItems(db, loop, items);
  return db.transaction().execute((trx) => insertItems(trx, loop, items));
}

async function insertItems(db: Db, { runId, path, nodeId }: NodeKey, items: Buffer[]): Promise<boolean> {
  let stored = 0n;
  for (let from = 0; from < items.length; from += ITEMS_AT_ONCE) {
    const batch = items.slice(from, from + ITEMS_AT_ONCE);
    const { numAffectedRows = 0n } = await sql`
      INSERT INTO loop_items (run_id, path, node_id, index, item_enc)
      SELECT ${runId}, ${path}, ${nodeId}, ${from}::integer + place - 1, item
      FROM unnest(${batch}::bytea[]) WITH ORDINALITY AS given (item, place)
      ON CONFLICT DO NOTHING`.execute(db);
    stored += numAffectedRows;
  }
  return stored === BigInt(items.length);
}

export async function findItem(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  index: number,
): Promise<{ itemEnc: Buffer } | undefined> {
  const { rows } = await sql<{ itemEnc: Buffer }>`
    SELECT item_enc AS "itemEnc" FROM loop_items
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND index = ${index}`.execute(db);
  return rows[0];
}

/** Marks these iterations of a loop as started, and stores how many the loop has in all (0 if unknown). Idempotent. */
export async function startIterations(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { total, indexes }: { total: number; indexes: number[] },
): Promise<void> {
  const paths = indexes.map((index) => iterationPath(path, nodeId, index));
  await sql`
    WITH open_run AS (
      SELECT id FROM runs WHERE id = ${runId} AND status = 'In Progress' FOR KEY SHARE
    ), counted AS (
      UPDATE node_results SET iterations = ${total}::integer
      FROM open_run WHERE run_id = open_run.id AND path = ${path} AND node_id = ${nodeId} AND status = 'in progress'
    ), started AS (
      INSERT INTO node_results (run_id, path, node_id, status, is_iteration)
      SELECT open_run.id, iteration, ${nodeId}, 'in progress', true FROM open_run, unnest(${paths}::text[]) AS iteration
      ON CONFLICT DO NOTHING
    )
    SELECT ${notifyWatchers(runId)}`.execute(db);
}

export interface EndedIteration {
  loop: NodeKey;
  index: number;
  /** JSON text of the output. */
  result: string;
  resultEnc: Buffer | null;
  /** The iteration that starts when this one ends. */
  next: number | undefined;
}

/**
 * Records the success of an iteration and the start of the next one, in one statement. Does not replace a recorded end,
 * and changes nothing if the run has ended. Returns the error code if the iteration has already failed.
 */
export async function recordIteration(db: Db, ended: EndedIteration): Promise<string | undefined> {
  const { loop } = ended;
  const { own, next } = pathsOf(ended);
  const { rows } = await sql<{ failure: string | null }>`
    WITH open_run AS (
      SELECT id FROM runs WHERE id = ${loop.runId} AND status = 'In Progress' FOR KEY SHARE
    ), ended AS (
      ${insertIterations(sql`
        SELECT id, ${own}, ${loop.nodeId}, 'succeed', true, ${ended.result}::json, ${Buffer.byteLength(ended.result)},
          ${ended.resultEnc}::bytea, clock_timestamp()
        FROM open_run`)}
    ), started AS (
      INSERT INTO node_results (run_id, path, node_id, status, is_iteration)
      SELECT id, ${next}, ${loop.nodeId}, 'in progress', true FROM open_run WHERE ${next}::text IS NOT NULL
      ON CONFLICT DO NOTHING
    )
    SELECT ${notifyWatchers(loop.runId)}, (
      SELECT error_code FROM node_results
      WHERE run_id = ${loop.runId} AND path = ${own} AND node_id = ${loop.nodeId} AND status = 'failed'
    ) AS failure`.execute(db);
  return rows[0]?.failure ?? undefined;
}

/** The paths of the iteration and of the one that starts when it ends. */
export function pathsOf({ loop, index, next }: EndedIteration): { own: string; next: string | null } {
  const pathOf = (at: number): string => iterationPath(loop.path, loop.nodeId, at);
  return { own: pathOf(index), next: next === undefined ? null : pathOf(next) };
}

/** The statement that ends the iterations that `rows` selects, except those that have ended. */
export function insertIterations(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO node_results AS node (run_id, path, node_id, status, is_iteration, result, result_bytes, result_enc,
      finished_at)
    ${rows}
    ON CONFLICT (run_id, path, node_id) DO UPDATE SET
      status = excluded.status, result = excluded.result, result_bytes = excluded.result_bytes,
      result_enc = excluded.result_enc, finished_at = excluded.finished_at
    WHERE node.status = 'in progress'
    RETURNING node.run_id, node.path, node.node_id`;
}

export interface FailedIteration {
  index: number;
  failure: { code: string; message: string };
  /** The iteration that starts when this one ends. */
  next?: number;
}

/**
 * Records the failure of an iteration, closes the open nodes in it, and starts the next iteration, in one statement.
 * Like `recordIteration`, does not replace a recorded end.
 */
export async function recordIterationFailure(db: Db, loop: NodeKey, failed: FailedIteration): Promise<void> {
  const own = iterationPath(loop.path, loop.nodeId, failed.index);
  const next = failed.next === undefined ? null : iterationPath(loop.path, loop.nodeId, failed.next);
  const isLeftOpen = sql`run_id = ${loop.runId} AND (path = ${own} OR starts_with(path, ${`${own}/`}))`;
  await sql`
    WITH open_run AS (
      SELECT id FROM runs WHERE id = ${loop.runId} AND status = 'In Progress' FOR KEY SHARE
    ), ended AS (
      INSERT INTO node_results AS node (run_id, path, node_id, status, is_iteration, error_code, error_message, finished_at)
      SELECT id, ${own}, ${loop.nodeId}, 'failed', true, ${failed.failure.code}, ${failed.failure.message},
        clock_timestamp()
      FROM open_run
      ON CONFLICT (run_id, path, node_id) DO UPDATE SET
        status = excluded.status, error_code = excluded.error_code, error_message = excluded.error_message,
        finished_at = excluded.finished_at
      WHERE node.status = 'in progress'
    ), closed AS (
      UPDATE node_results SET status = 'failed', error_code = 'cancelled', finished_at = clock_timestamp(),
        error_message = 'The node was cancelled because its iteration failed.'
      FROM open_run
      WHERE run_id = open_run.id AND node_results.status = 'in progress'
        AND (starts_with(path, ${`${own}/`}) OR (path = ${own} AND NOT is_iteration))
      RETURNING path, node_id
    ), ${callsOfClosed(loop.runId)}, ${closedRequests(isLeftOpen)}, started AS (
      INSERT INTO node_results (run_id, path, node_id, status, is_iteration)
      SELECT id, ${next}, ${loop.nodeId}, 'in progress', true FROM open_run WHERE ${next}::text IS NOT NULL
      ON CONFLICT DO NOTHING
    )
    SELECT ${notifyWatchers(loop.runId)}`.execute(db);
}

/** Returns the failure that ended the iteration: that of the first node in it that failed without being handled. */
export async function findIterationFailure(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  index: number,
): Promise<{ code: string; message: string } | undefined> {
  const first = await db
    .selectFrom('node_results')
    .select(['error_code as code', 'error_message as message'])
    .where('run_id', '=', runId)
    .where('path', '=', iterationPath(path, nodeId, index))
    .where('is_iteration', '=', false)
    .where('status', '=', 'failed')
    .where('is_handled', '=', false)
    .where('error_code', '!=', 'cancelled')
    .orderBy('finished_at')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return first && { code: first.code ?? 'failed', message: first.message ?? '' };
}

export interface StoredIteration extends Pick<StoredOutput, 'result' | 'resultEnc'> {
  path: string;
  status: 'in progress' | 'succeed' | 'failed';
  errorCode: string | null;
  errorMessage: string | null;
}

export async function findIteration(db: Db, key: NodeKey, index: number): Promise<StoredIteration | undefined> {
  const { rows } = await sql<StoredIteration>`
    SELECT ${iterationColumns} FROM node_results
    WHERE run_id = ${key.runId} AND path = ${iterationPath(key.path, key.nodeId, index)} AND node_id = ${key.nodeId}`.execute(
    db,
  );
  return rows[0];
}

/** Closes all iterations of a failed loop, with everything in them. Idempotent. */
export async function closeIterations(db: Db, key: NodeKey): Promise<void> {
  const prefix = iterationsPrefix(key.path, key.nodeId);
  await sql`
    WITH ${closedRequests(sql`run_id = ${key.runId} AND starts_with(path, ${prefix})`)}, closed AS (
      UPDATE node_results SET status = 'failed', error_code = 'cancelled', finished_at = clock_timestamp(),
        error_message = 'The node was cancelled because its loop failed.'
      FROM (SELECT id FROM runs WHERE id = ${key.runId} AND status = 'In Progress' FOR KEY SHARE) AS open_run
      WHERE run_id = open_run.id AND node_results.status = 'in progress' AND starts_with(path, ${prefix})
      RETURNING path, node_id
    ), ${callsOfClosed(key.runId)}
    SELECT ${notifyWatchers(key.runId)} FROM closed`.execute(db);
}

/** Returns the total size of the outputs and error messages of a loop's iterations in bytes. */
export async function measureIterations(db: Db, key: NodeKey): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(
      coalesce(greatest(result_bytes, octet_length(result_enc)), 0) + coalesce(octet_length(error_message), 0)
    ), 0)::float8 AS bytes FROM node_results
    WHERE ${ofLoop(key)}`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** Returns the iterations of a loop in no particular order. */
export async function findIterations(db: Db, key: NodeKey): Promise<StoredIteration[]> {
  const { rows } = await sql<StoredIteration>`
    SELECT ${iterationColumns} FROM node_results WHERE ${ofLoop(key)}`.execute(db);
  return rows;
}

const iterationColumns = sql`path, status, CASE WHEN result_enc IS NULL THEN result::text END AS result,
  result_enc AS "resultEnc", error_code AS "errorCode", error_message AS "errorMessage"`;

export function ofLoop(key: NodeKey): RawBuilder<unknown> {
  return sql`run_id = ${key.runId} AND node_id = ${key.nodeId} AND is_iteration AND starts_with(path, ${iterationsPrefix(key.path, key.nodeId)})`;
}
