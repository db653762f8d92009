// Contents of past and present runs for readers: rows, drawings and nodes.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import { markResults } from '../files/deleted-marks.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { expiredAt, isExpired } from '../retention/retention-repository.js';
import { totalCost } from './child-runs-repository.js';
import { isoText } from '../core/iso-text.js';
import { anyOf } from '../core/statement.js';
import { iterationCounts } from './iteration-counts.js';
import type { PolledNode } from './polled-run.js';
import { cutResult } from '../nodes/result-pieces.js';
import { withWaits, type WaitingFor } from './waiting-runs.js';

export interface HistoryRun extends RunOfHistory {
  /** JSON text. Null if it is too large to be read with the run (`readDrawing` reads it). */
  document: string | null;
  documentBytes: number;
  nodes: HistoryNode[];
  waiting_for: WaitingFor | null;
}

export type HistoryNode = PolledNode & { truncated: boolean };

type RunOfHistory = InferResult<ReturnType<typeof selectRuns>>[number];

/** Limits on the contents that are read with runs. */
export interface ContentLimits {
  documentBytes: number;
  /** The limit in characters for the content of each result; null for no limit. */
  contentLimit: number | null;
  /** The results of a run are read with it up to this total. The rest has `apartBytes`, and must be read later. */
  togetherBytes: number;
}

export const WHOLE: ContentLimits = { documentBytes: 64 * 1024, contentLimit: null, togetherBytes: 64 * 1024 };

export async function complete(db: Db, runs: RunOfHistory[], limits: ContentLimits): Promise<HistoryRun[]> {
  if (runs.length === 0) return [];
  const documents = await readDocuments(db, runs, limits.documentBytes);
  const nodes = await readNodes(
    db,
    runs.map((run) => run.id),
    limits,
  );
  return (await withWaits(db, runs)).map((run) => {
    const { text: document, bytes: documentBytes } = documents.get(run.snapshot_hash.toString('hex'))!;
    const found = nodes.get(run.id) ?? [];
    return { ...run, document, documentBytes, nodes: run.results_expired_at === null ? found : found.map(emptied) };
  });
}

/** Shows a node of an expired run as `purgeRuns` will leave it, in case that has not happened yet. */
function emptied(node: HistoryNode): HistoryNode {
  return { ...node, result: null, apartBytes: null, truncated: false, errorMessage: null };
}

/** Reads each graph once, because most runs of a page share it. */
async function readDocuments(
  db: Db,
  runs: RunOfHistory[],
  limitBytes: number,
): Promise<Map<string, { text: string | null; bytes: number }>> {
  const hashes = new Map(runs.map((run) => [run.snapshot_hash.toString('hex'), run.snapshot_hash]));
  const rows = await db
    .selectFrom('graph_snapshots')
    .select(['hash', textUpTo('document', limitBytes).as('text')])
    .select(sql<number>`octet_length(document::text)`.as('bytes'))
    .where('hash', '=', anyOf([...hashes.values()]))
    .execute();
  return new Map(rows.map(({ hash, ...document }) => [hash.toString('hex'), document]));
}

async function readNodes(
  db: Db,
  runIds: string[],
  { contentLimit, togetherBytes }: ContentLimits,
): Promise<Map<string, HistoryNode[]>> {
  const limit = contentLimit ?? 2 ** 31 - 1;
  const { rows } = await sql<HistoryNode & { runId: string }>`
    SELECT run_id AS "runId", node_id AS id, status, error_code AS "errorCode", error_message AS "errorMessage",
      is_handled AS "isHandled", is_reused AS "isReused", source, is_stale AS "isStale", truncated, ${iterationCounts} AS iterations,
      ${isoText(sql`started_at`)} AS "startedAt", ${isoText(sql`finished_at`)} AS "finishedAt",
      CASE WHEN until_here > ${togetherBytes}::integer AND result IS NOT NULL THEN least(result_bytes, ${limit}::integer) END AS "apartBytes",
      CASE WHEN until_here > ${togetherBytes}::integer THEN NULL WHEN truncated THEN ${cutResult(limit)}
        ELSE result::text END AS result
    FROM (
      SELECT *, ${resultBytes} > ${limit}::integer AS truncated,
        sum(least(${resultBytes}, ${limit}::integer)) OVER (PARTITION BY run_id ORDER BY started_at, node_id) AS until_here
      FROM node_results WHERE run_id = ANY (${runIds}::uuid[]) AND path = ''
    ) AS node
    ORDER BY started_at, node_id`.execute(db);
  const byRun = new Map<string, HistoryNode[]>(runIds.map((id) => [id, []]));
  for (const { runId, ...node } of await markResults(db, runIds, rows)) byRun.get(runId)?.push(node);
  return byRun;
}

/** The text of a JSON column, or null if it has more than `limitBytes`. */
function textUpTo(column: string, limitBytes: number) {
  const text = sql`${sql.ref(column)}::text`;
  return sql<string | null>`CASE WHEN octet_length(${text}) > ${limitBytes}::integer THEN NULL ELSE ${text} END`;
}

/**
 * JSON columns stay text because they are only passed on. The input is null if it has more than `inputLimitBytes`
 * (`readInputPieces` reads it). `results_expired_at` and `node_errors` are as if retention had marked each expired run.
 */
export function selectRuns(db: Db, inputLimitBytes: number, retentionDays: number) {
  return db
    .selectFrom('runs')
    .select([
      'id',
      'workflow_id',
      'workflow_version',
      'purpose',
      'project_id',
      'user_id',
      'status',
      'snapshot_hash',
      'secrets_enc',
      'sequence',
      'cost_usd',
      'error_code',
      'error_message',
      'is_api_run',
      'use_in_marketplace_example',
      'use_as_marketplace_template',
      'created_at',
      'updated_at',
      'run_started_at',
      'run_finished_at',
      'cancel_requested_at',
      'next_check_at',
      'check_attempts',
      'parent_run_id',
      'parent_path',
      'parent_node_id',
      'resumed_from',
    ])
    .select(totalCost('runs').as('total_cost_usd'))
    .select(expiredAt(retentionDays).as('results_expired_at'))
    .select([
      textUpTo('input', inputLimitBytes).as('input'),
      sql<string | null>`CASE WHEN NOT ${isExpired(retentionDays)} THEN node_errors::text END`.as('node_errors'),
    ])
    .select(sql<number>`octet_length(input::text)`.as('input_bytes'));
}
