// Reads past and present runs of a workflow. A small page takes six statements, however many runs it shows, one more if
// a run is open, and one more if a result names a file.
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { complete, selectRuns, WHOLE, type HistoryRun } from './history-contents.js';
import { readPieces } from '../core/text-pieces.js';
import { anyOf } from '../core/statement.js';

export type { HistoryNode, HistoryRun } from './history-contents.js';

export type HistoryOrdering = 'created_at' | '-created_at' | 'cost' | '-cost';

export interface HistoryPage {
  total: number;
  /** All runs of a small page. */
  runs: HistoryRun[];
  /** Set if the page is too large to be read at once: `readListed` reads each of its runs. */
  later: ListedLater | undefined;
}

export interface ListedLater {
  ids: string[];
  contentLimit: number;
  retentionDays: number;
}

interface HistoryQuery {
  workflowId: number;
  purpose: 'run' | 'test';
  ordering: HistoryOrdering;
  limit: number;
  offset: number;
  retentionDays: number;
}

// Limits for each run in a list; reading a single run (`findHistoryRun`, `findExample`) shows everything. Without them,
// a page of a hundred runs with large inputs, drawings or results would not fit into memory.
const LISTED_INPUT_BYTES = 64 * 1024;
const LISTED_DOCUMENT_BYTES = 1024 * 1024;
const LISTED = { documentBytes: LISTED_DOCUMENT_BYTES };
const LISTED_CONTENT_CHARS = 16 * 1024;
/** The limit for the contents of all nodes of a page. */
const LISTED_CONTENTS_CHARS = 64 * 1024 * 1024;
/** A page up to this size is read at once. Each run of a larger page is read together with results up to this size. */
const TOGETHER_BYTES = 1024 * 1024;
/** The memory that a node takes without its result. */
const ENTRY_BYTES = 512;

/**
 * Total, order and the results of a small page come from one snapshot. Each run of a large page is read when the
 * response reaches it, and may have changed since.
 */
export function listHistory(db: Database, query: HistoryQuery): Promise<HistoryPage> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (transaction) => {
    const total = await countRuns(transaction, query);
    if (query.offset >= total) return { total, runs: [], later: undefined };
    const ids = await findPage(transaction, query, total);
    return { total, ...(await readPage(transaction, ids, query.retentionDays)) };
  });
}

async function readPage(db: Db, ids: string[], retentionDays: number): Promise<Omit<HistoryPage, 'total'>> {
  if (ids.length === 0) return { runs: [], later: undefined };
  const { bytes, contentLimit } = await weigh(db, ids);
  if (bytes > TOGETHER_BYTES) return { runs: [], later: { ids, contentLimit, retentionDays } };
  const found = await selectRuns(db, LISTED_INPUT_BYTES, retentionDays).where('id', '=', anyOf(ids)).execute();
  const byId = new Map(found.map((run) => [run.id, run]));
  const runs = ids.flatMap((id) => byId.get(id) ?? []);
  return {
    runs: await complete(db, runs, { ...LISTED, contentLimit, togetherBytes: TOGETHER_BYTES }),
    later: undefined,
  };
}

/**
 * Returns the size of a page, in which a drawing counts once for each run that shows it, and the limit for the content
 * of each result.
 */
async function weigh(db: Db, ids: string[]): Promise<{ bytes: number; contentLimit: number }> {
  const { rows } = await sql<{ count: number; bytes: number; others: number }>`
    SELECT (SELECT count(*) FROM node_results WHERE run_id = ANY (${ids}::uuid[]) AND path = '') AS count,
      (SELECT coalesce(sum(least(${resultBytes}, ${LISTED_CONTENT_CHARS}) + ${ENTRY_BYTES}::integer), 0)::float8
        FROM node_results WHERE run_id = ANY (${ids}::uuid[]) AND path = '') AS bytes,
      (SELECT sum(least(octet_length(input::text), ${LISTED_INPUT_BYTES}) + least(graph.bytes, ${LISTED_DOCUMENT_BYTES}))::float8
        FROM runs JOIN (
          SELECT snapshot_hash, bytes
          FROM (SELECT DISTINCT snapshot_hash FROM runs WHERE id = ANY (${ids}::uuid[])) AS named CROSS JOIN LATERAL (
            SELECT octet_length(document::text) AS bytes FROM graph_snapshots WHERE hash = named.snapshot_hash OFFSET 0
          ) AS measured
        ) AS graph USING (snapshot_hash)
        WHERE id = ANY (${ids}::uuid[])) AS others`.execute(db);
  const { count, bytes, others } = rows[0]!;
  const contentLimit = Math.min(LISTED_CONTENT_CHARS, Math.floor(LISTED_CONTENTS_CHARS / Math.max(1, count)));
  return { bytes: bytes + others, contentLimit };
}

/** Returns a run of a large page, or undefined if there is no such run. */
export async function readListed(
  db: Db,
  runId: string,
  { contentLimit, retentionDays }: Omit<ListedLater, 'ids'>,
): Promise<HistoryRun | undefined> {
  const runs = await selectRuns(db, LISTED_INPUT_BYTES, retentionDays).where('id', '=', runId).execute();
  return (await complete(db, runs, { ...LISTED, contentLimit, togetherBytes: TOGETHER_BYTES }))[0];
}

async function countRuns(db: Db, { workflowId, purpose }: HistoryQuery): Promise<number> {
  if (purpose === 'test') return countTests(db, workflowId);
  const counted = await db
    .selectFrom('workflow_statistics')
    .select('recorded_count as total')
    .where('workflow_id', '=', workflowId)
    .executeTakeFirst();
  return counted?.total ?? 0;
}

async function countTests(db: Db, workflowId: number): Promise<number> {
  const { total } = await db
    .selectFrom('runs')
    .select((row) => row.fn.countAll<number>().as('total'))
    .where('workflow_id', '=', workflowId)
    .where('purpose', '=', 'test')
    .executeTakeFirstOrThrow();
  return total;
}

/** Finds the ids of a page in an index alone, from the nearer end, so that the last page is as fast as the first. */
async function findPage(
  db: Db,
  { workflowId, purpose, ordering, limit, offset }: HistoryQuery,
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
    .where('purpose', '=', purpose)
    .orderBy(ordering.endsWith('cost') ? 'cost_usd' : 'created_at', direction)
    .orderBy('id', direction)
    .limit(count)
    .offset(isReversed ? behind : offset)
    .execute();
  const ids = rows.map((row) => row.id);
  return isReversed ? ids.toReversed() : ids;
}

export async function findHistoryRun(
  db: Db,
  workflowId: number,
  runId: string,
  retentionDays: number,
): Promise<HistoryRun | undefined> {
  const runs = await selectRuns(db, WHOLE.documentBytes, retentionDays)
    .where('workflow_id', '=', workflowId)
    .where('id', '=', runId)
    .execute();
  return (await complete(db, runs, WHOLE))[0];
}

export async function listExamples(
  db: Db,
  workflowId: number,
  limit: number,
  retentionDays: number,
): Promise<Omit<HistoryPage, 'total'>> {
  const found = await db
    .selectFrom('runs')
    .select('id')
    .where('workflow_id', '=', workflowId)
    .where('use_in_marketplace_example', '=', true)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const ids = found.map(({ id }) => id);
  return readPage(db, ids, retentionDays);
}

export async function findExample(
  db: Db,
  workflowId: number,
  runId: string,
  retentionDays: number,
): Promise<HistoryRun | undefined> {
  const runs = await selectRuns(db, WHOLE.documentBytes, retentionDays)
    .where('workflow_id', '=', workflowId)
    .where('use_in_marketplace_example', '=', true)
    .where('id', '=', runId)
    .execute();
  return (await complete(db, runs, WHOLE))[0];
}

/** Yields the input of a run as JSON text in pieces. */
export function readInputPieces(db: Db, runId: string): AsyncGenerator<string> {
  return readPieces(db, sql`SELECT input::text AS text FROM runs WHERE id = ${runId}`);
}

/** Returns the drawing that a run executes as JSON text. */
export async function readDrawing(db: Db, { snapshot_hash: hash }: Pick<HistoryRun, 'snapshot_hash'>): Promise<string> {
  const graph = await db
    .selectFrom('graph_snapshots')
    .select((row) => row.cast<string>('document', 'text').as('text'))
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (graph === undefined) throw new Error('a drawing was deleted while it was read');
  return graph.text;
}
