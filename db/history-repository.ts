// Reads of past and present runs of a workflow. Three statements a page, however many runs it shows.
import { sql } from 'kysely';
import type { Db } from './client.js';
import type { PolledNode } from './poll-repository.js';
import type { RunRow } from './tables.js';

export type HistoryOrdering = 'created_at' | '-created_at' | 'cost' | '-cost';

/** JSON columns stay text where they are only passed on. */
export interface HistoryRun extends Omit<RunRow, 'input' | 'input_enc' | 'secrets_enc' | 'node_errors'> {
  input: string;
  node_errors: string | null;
  document: string;
  nodes: HistoryNode[];
}

export type HistoryNode = PolledNode & { truncated: boolean };

interface HistoryQuery {
  workflowId: number;
  ordering: HistoryOrdering;
  limit: number;
  offset: number;
}

/** Characters of a node's content that a list shows; the single run has it whole. */
const LISTED_CONTENT_CHARS = 16_384;

export async function listHistory(
  db: Db,
  { workflowId, ordering, limit, offset }: HistoryQuery,
): Promise<{ total: number; runs: HistoryRun[] }> {
  const { total } = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('workflow_id', '=', workflowId)
    .executeTakeFirstOrThrow();
  if (limit === 0 || offset >= total) return { total, runs: [] };
  const direction = ordering.startsWith('-') ? 'desc' : 'asc';
  const runs = await selectRuns(db)
    .where('workflow_id', '=', workflowId)
    .orderBy(ordering.endsWith('cost') ? 'cost_usd' : 'created_at', direction)
    .orderBy('id', direction)
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, runs: await complete(db, runs, 'cut') };
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
  const documents = await readDocuments(db, runs);
  const nodes = await readNodes(
    db,
    runs.map((run) => run.id),
    contents,
  );
  return runs.map((run) => ({
    ...run,
    document: documents.get(run.snapshot_hash.toString('hex')) ?? '{}',
    nodes: nodes.get(run.id) ?? [],
  }));
}

/** Each graph once: the runs of a page mostly share it. */
async function readDocuments(db: Db, runs: RunOfHistory[]): Promise<Map<string, string>> {
  const hashes = new Map(runs.map((run) => [run.snapshot_hash.toString('hex'), run.snapshot_hash]));
  const rows = await db
    .selectFrom('graph_snapshots')
    .select(['hash', sql<string>`document::text`.as('text')])
    .where('hash', 'in', [...hashes.values()])
    .execute();
  return new Map(rows.map((row) => [row.hash.toString('hex'), row.text]));
}

async function readNodes(db: Db, runIds: string[], contents: 'cut' | 'whole'): Promise<Map<string, HistoryNode[]>> {
  const limit = contents === 'cut' ? LISTED_CONTENT_CHARS : null;
  const { rows } = await sql<HistoryNode & { runId: string }>`
    SELECT run_id AS "runId", node_id AS id, status, error_code AS "errorCode", error_message AS "errorMessage", truncated,
      CASE WHEN truncated THEN json_build_object('content', left(result ->> 'content', ${limit}::integer))::text
        ELSE result::text END AS result
    FROM node_results, coalesce(octet_length(result::text) > ${limit}::integer, false) AS truncated
    WHERE run_id = ANY (${runIds}::uuid[])
    ORDER BY started_at, node_id`.execute(db);
  const byRun = new Map<string, HistoryNode[]>(runIds.map((id) => [id, []]));
  for (const { runId, ...node } of rows) byRun.get(runId)?.push(node);
  return byRun;
}

function selectRuns(db: Db) {
  return db
    .selectFrom('runs')
    .select([
      'id',
      'workflow_id',
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
    ])
    .select([sql<string>`input::text`.as('input'), sql<string | null>`node_errors::text`.as('node_errors')]);
}
