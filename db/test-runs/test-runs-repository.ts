// Test runs, and the fixed results that their nodes use instead of being executed.
import { sql } from 'kysely';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { FixedOutcome } from '../../graph/fixed-outcome.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';
import type { Tables } from '../core/tables.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import { valueStartOf } from '../nodes/run-output.js';

/** The path of a fixed result that counts in all iterations, or whose node is outside loops. */
export const EVERYWHERE = '*';

export type TestFacts = Omit<Tables['test_runs'], 'run_id' | 'asked_by'>;

export interface FixedResult extends Omit<NodeKey, 'runId'> {
  source: 'mock' | 'pin';
  isStale: boolean;
  outcome: FixedOutcome;
  /** Set only for a pin that is not stored for a run yet: see `StoredPin` in pins-repository.ts. */
  secretsThen?: readonly string[] | undefined;
}

/** Requires the transaction that accepts the run. */
export async function insertTestRun(
  transaction: Db,
  box: SecretBox,
  {
    runId,
    facts,
    given,
    askedBy = null,
  }: {
    runId: string;
    facts: TestFacts;
    given: readonly FixedResult[];
    /** The run of the assistant in the editor that has asked for the test. */
    askedBy?: string | null | undefined;
  },
): Promise<void> {
  await transaction
    .insertInto('test_runs')
    .values({ run_id: runId, asked_by: askedBy, ...facts })
    .execute();
  for (const { path, nodeId, source, isStale, outcome } of given) {
    const sealed = box.seal(writeJson(outcome), 'fixed-result', runId, path, nodeId);
    await transaction
      .insertInto('fixed_results')
      .values({ run_id: runId, path, node_id: nodeId, source, is_stale: isStale, outcome_enc: sealed })
      .execute();
  }
}

export function findTestRun(db: Db, runId: string): Promise<TestFacts | undefined> {
  return db
    .selectFrom('test_runs')
    .select(['mode', 'node_id', 'skips_waits', 'max_cost_usd'])
    .where('run_id', '=', runId)
    .executeTakeFirst();
}

export async function findFixedResult(
  db: Db,
  box: SecretBox,
  { runId, path, nodeId }: NodeKey,
): Promise<FixedResult | undefined> {
  const row = await db
    .selectFrom('fixed_results')
    .select(['path', 'source', 'is_stale', 'outcome_enc'])
    .where('run_id', '=', runId)
    .where('node_id', '=', nodeId)
    .where('path', 'in', [path, EVERYWHERE])
    .orderBy(sql`path = ${EVERYWHERE}`)
    .limit(sql.lit(1))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const outcome = parseJson(box.open(row.outcome_enc, 'fixed-result', runId, row.path, nodeId)) as FixedOutcome;
  return { path, nodeId, source: row.source, isStale: row.is_stale, outcome };
}

/** Returns the nodes that used a fixed result in any iteration. */
export async function findFixedNodes(db: Db, runId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('node_results')
    .select('node_id')
    .distinct()
    .where('run_id', '=', runId)
    .where('source', 'in', ['mock', 'pin'])
    .execute();
  return rows.map(({ node_id: nodeId }) => nodeId);
}

export interface FixedEnd extends NodeKey {
  isOutput: boolean;
  source: 'mock' | 'pin';
  isStale: boolean;
  status: 'succeed' | 'failed';
  handle: Handle;
  alsoHandles: Handle[] | null;
  /** JSON text; null for a failed node. */
  result: string | null;
  resultEnc: Buffer | null;
  errorCode: string | null;
  errorMessage: string | null;
  isHandled: boolean;
}

/**
 * Records the end of a node with a fixed result: nothing was executed and nothing is charged. Idempotent. Returns
 * false if the node or the run has already ended. Updates the row of a node that is already in progress, because it was
 * stored as due in a pool.
 */
export async function recordFixedEnd(db: Db, end: FixedEnd): Promise<boolean> {
  const bytes = end.result === null ? null : Buffer.byteLength(end.result);
  const output =
    end.isOutput && end.result !== null
      ? sql`, output AS (
          INSERT INTO run_outputs (run_id, path, node_id, value_start)
          SELECT ${end.runId}, ${end.path}, node_id, ${valueStartOf(end.result)} FROM settled ON CONFLICT (run_id) DO NOTHING
        )`
      : sql``;
  const { rows } = await sql<{ isSettled: boolean }>`
    WITH open_run AS (
      SELECT id FROM runs WHERE id = ${end.runId} AND status = 'In Progress' FOR KEY SHARE
    ), settled AS (
      INSERT INTO node_results AS node (run_id, path, node_id, status, handle, also_handles, result, result_bytes, result_enc,
        error_code, error_message, is_handled, is_reused, source, is_stale, started_at, finished_at)
      SELECT id, ${end.path}, ${end.nodeId}, ${end.status}, ${end.handle}, ${end.alsoHandles}, ${end.result}::json, ${bytes}::integer,
        ${end.resultEnc}, ${end.errorCode}, ${end.errorMessage}, ${end.isHandled}, true, ${end.source}, ${end.isStale},
        clock_timestamp(), clock_timestamp()
      FROM open_run
      ON CONFLICT (run_id, path, node_id) DO UPDATE SET
        status = excluded.status, handle = excluded.handle, also_handles = excluded.also_handles,
        result = excluded.result, result_bytes = excluded.result_bytes, result_enc = excluded.result_enc,
        error_code = excluded.error_code, error_message = excluded.error_message, is_handled = excluded.is_handled,
        is_reused = excluded.is_reused, source = excluded.source, is_stale = excluded.is_stale,
        started_at = least(node.started_at, excluded.started_at), finished_at = excluded.finished_at
      WHERE node.status = 'in progress'
      RETURNING node_id
    )${output}
    SELECT EXISTS (SELECT FROM settled) AS "isSettled", ${notifyWatchers(end.runId)}`.execute(db);
  return rows[0]?.isSettled === true;
}
