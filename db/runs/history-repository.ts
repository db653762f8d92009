// Reads of past and present runs of a workflow. Six statements a page, however many runs it shows.
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { totalCost } from './child-runs-repository.js';
import { isoText } from './entry-text.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { iterationCounts } from './iterations-text.js';
import type { PolledNode } from './poll-repository.js';
import type { RunRow } from '../core/tables.js';

export type HistoryOrdering = 'created_at' | '-created_at' | 'cost' | '-cost';

/** JSON columns stay text where they are only passed on. */
export interface HistoryRun extends Omit<
  RunRow,
  | 'input'
  | 'input_enc'
  | 'secrets_enc'
  | 'node_errors'
  | 'is_input_lost'
  | 'is_purge_pending'
  | 'stuck_since'
  | 'traceparent'
  | 'passed_secrets_enc'
  | 'root_run_id'
  | 'depth'
> {
  total_cost_usd: string;
  /** Null where a list leaves out what is too large for it. */
  input: string | null;
  node_errors: string | null;
  /** Null as with `input`. */
  document: string | null;
  nodes: HistoryNode[];
}

export type HistoryNode = PolledNode & { truncated: boolean };

interface HistoryQuery {
  workflowId: number;
  ordering: HistoryOrdering;
  limit: number;
  offset: number;
}

// What a list shows of one run at most; the single run has it whole. Without these a page of a hundred runs of large
// inputs, drawings or results would not fit into memory.
const LISTED_INPUT_BYTES = 64 * 1024;
const LISTED_DOCUMENT_BYTES = 1024 * 1024;
const LISTED_CONTENT_CHARS = 16 * 1024;
/** Of all node contents of a page together. */
const LISTED_CONTENTS_CHARS = 64 * 1024 * 1024;

/** One snapshot for the whole page: total, order and results agree, whatever arrives or ends meanwhile. */
export function listHistory(db: Database, query: HistoryQuery): Promise<{ total: number; runs: HistoryRun[] }> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (transaction) => {
    const total = await countRuns(transaction, query.workflowId);
    if (query.offset >= total) return { total, runs: [] };
    const ids = await findPage(transaction, query, total);
    const found = await selectRuns(transaction, LISTED_INPUT_BYTES).where('id', 'in', ids).execute();
    const byId = new Map(found.map((run) => [run.id, run]));
    const runs = ids.flatMap((id) => byId.get(id) ?? []);
    return { total, runs: await complete(transaction, runs, 'cut') };
  });
}

async function countRuns(db: Db, workflowId: number): Promise<number> {
  const counted = await db
    .selectFrom('workflow_statistics')
    .select('recorded_count as total')
    .where('workflow_id', '=', workflowId)
    .executeTakeFirst();
  return counted?.total ?? 0;
}

/** The ids of a page, from an index alone and from the nearer end of it: the last page is as near as the first. */
async function findPage(
  db: Db,
  { workflowId, ordering, limit, offset }: HistoryQuery,
  total: number,
): Promise<string[]> {
  const count = Math.min(limit, total - offset);
  const behind = total - offset - count;
  const isReversed = behind < offset;
  const isDescending = ordering.startsWith('-') !== isReversed;
  const direction = isDescending ? 'desc' : 'asc';
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('workflow_id', '=', workflowId)
    .orderBy(ordering.endsWith('cost') ? 'cost_usd' : 'created_at', direction)
    .orderBy('id', direction)
    .limit(count)
    .offset(isReversed ? behind : offset)
    .execute();
  const ids = rows.map((row) => row.id);
  return isReversed ? ids.toReversed() : ids;
}

export async function findHistoryRun(db: Db, workflowId: number, runId: string): Promise<HistoryRun | undefined> {
  const runs = await selectRuns(db).where('workflow_id', '=', workflowId).where('id', '=', runId).execute();
  return (await complete(db, runs, 'whole'))[0];
}

/** Marketplace examples of a workflow, newest first. */
export async function listExamples(db: Db, workflowId: number, limit: number): Promise<HistoryRun[]> {
  const runs = await selectExamples(db, workflowId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return complete(db, runs, 'cut');
}

export async function findExample(db: Db, workflowId: number, runId: string): Promise<HistoryRun | undefined> {
  const runs = await selectExamples(db, workflowId).where('id', '=', runId).execute();
  return (await complete(db, runs, 'whole'))[0];
}

function selectExamples(db: Db, workflowId: number) {
  return selectRuns(db).where('workflow_id', '=', workflowId).where('use_in_marketplace_example', '=', true);
}

type RunOfHistory = Awaited<ReturnType<ReturnType<typeof selectRuns>['execute']>>[number];

async function complete(db: Db, runs: RunOfHistory[], contents: 'cut' | 'whole'): Promise<HistoryRun[]> {
  if (runs.length === 0) return [];
  const documents = await readDocuments(db, runs, contents);
  const nodes = await readNodes(
    db,
    runs.map((run) => run.id),
    contents,
  );
  return runs.map((run) => ({
    ...run,
    document: documents.get(run.snapshot_hash.toString('hex')) ?? null,
    nodes: nodes.get(run.id) ?? [],
  }));
}

/** Each graph once: the runs of a page mostly share it. */
async function readDocuments(
  db: Db,
  runs: RunOfHistory[],
  contents: 'cut' | 'whole',
): Promise<Map<string, string | null>> {
  const limit = contents === 'cut' ? LISTED_DOCUMENT_BYTES : null;
  const hashes = new Map(runs.map((run) => [run.snapshot_hash.toString('hex'), run.snapshot_hash]));
  const rows = await db
    .selectFrom('graph_snapshots')
    .select(['hash', textUpTo('document', limit).as('text')])
    .where('hash', 'in', [...hashes.values()])
    .execute();
  return new Map(rows.map((row) => [row.hash.toString('hex'), row.text]));
}

/**
 * A column of type json keeps escapes (NUL, lone surrogates) that PostgreSQL refuses to decode: a foreign server's reply
 * may hold them, and one such result must not break a list. An even number of
 * backslashes before the `u` is text, no escape.
 */
const readable = sql.raw(
  String.raw`regexp_replace(result::text, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'gi')::json`,
);

async function readNodes(db: Db, runIds: string[], contents: 'cut' | 'whole'): Promise<Map<string, HistoryNode[]>> {
  const limit = contents === 'cut' ? await contentLimit(db, runIds) : null;
  const { rows } = await sql<HistoryNode & { runId: string }>`
    SELECT run_id AS "runId", node_id AS id, status, error_code AS "errorCode", error_message AS "errorMessage",
      is_handled AS "isHandled", is_reused AS "isReused", truncated, ${iterationCounts} AS iterations,
      ${isoText(sql`started_at`)} AS "startedAt", ${isoText(sql`finished_at`)} AS "finishedAt",
      CASE WHEN truncated THEN json_build_object('content', left(${readable} ->> 'content', ${limit}::integer))::text
        ELSE result::text END AS result
    FROM node_results AS node, coalesce(${resultBytes} > ${limit}::integer, false) AS truncated
    WHERE run_id = ANY (${runIds}::uuid[]) AND path = ''
    ORDER BY started_at, node_id`.execute(db);
  const byRun = new Map<string, HistoryNode[]>(runIds.map((id) => [id, []]));
  for (const { runId, ...node } of rows) byRun.get(runId)?.push(node);
  return byRun;
}

async function contentLimit(db: Db, runIds: string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM node_results
    WHERE run_id = ANY (${runIds}::uuid[]) AND path = ''`.execute(db);
  return Math.min(LISTED_CONTENT_CHARS, Math.floor(LISTED_CONTENTS_CHARS / Math.max(1, rows[0]?.count ?? 1)));
}

/** The text of a JSON column; null where it is larger than the limit. */
function textUpTo(column: string, limitBytes: number | null) {
  const text = sql`${sql.ref(column)}::text`;
  return sql<string | null>`CASE WHEN octet_length(${text}) > ${limitBytes}::integer THEN NULL ELSE ${text} END`;
}

function selectRuns(db: Db, inputLimitBytes: number | null = null) {
  return db
    .selectFrom('runs')
    .select([
      'id',
      'workflow_id',
      'workflow_version',
      'project_id',
      'user_id',
      'status',
      'snapshot_hash',
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
      'results_expired_at',
      'parent_run_id',
      'parent_path',
      'parent_node_id',
      'resumed_from',
    ])
    .select(totalCost('runs').as('total_cost_usd'))
    .select([textUpTo('input', inputLimitBytes).as('input'), sql<string | null>`node_errors::text`.as('node_errors')]);
}
