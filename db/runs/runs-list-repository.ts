// Lists the runs of all workflows that a user sees, without their contents.
import { sql, type RawBuilder } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { containing } from '../core/like-pattern.js';
import type { RunPurpose, StoredRunStatus } from '../core/tables.js';
import { anyOf } from '../core/statement.js';
import { isVisibleTo, type Reach } from '../access/reach.js';
import { memberWorkflows } from '../workflows/workflows-repository.js';
import { totalCost } from './child-runs-repository.js';
import type { HistoryOrdering } from './history-repository.js';
import { withWaits } from './waiting-runs.js';

export interface RunsQuery {
  reach: Reach;
  projectId: number | undefined;
  workflowId: number | undefined;
  status: StoredRunStatus | undefined;
  /** Matched against the workflow's title. */
  search: string | undefined;
  /** Inclusive bound on the time of acceptance. */
  startedFrom: Date | undefined;
  /** Exclusive bound on the time of acceptance. */
  startedBefore: Date | undefined;
  /** With `assistant`, only the user's own runs are listed. */
  purpose: RunPurpose;
  /** Only runs that wait for people: for an approval, a human task or a sign-in for a connection. */
  isWaiting: boolean;
  ordering: HistoryOrdering;
  limit: number;
  offset: number;
}

export interface RunOrigin {
  workflow_id: number;
  workflow_title: string;
  project_id: number;
  project_name: string;
}

export type ListedRun = Awaited<ReturnType<typeof readRuns>>[number];

/** Reads the page in one snapshot. Leaves out runs of deleted workflows and projects. */
export function listRuns(db: Database, query: RunsQuery): Promise<{ total: number; runs: ListedRun[] }> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (transaction) => {
    if (query.isWaiting) {
      const { total, ids } = await findWaiting(transaction, query);
      return { total, runs: await readRuns(transaction, ids) };
    }
    const total = await countRuns(transaction, query);
    if (query.offset >= total) return { total, runs: [] };
    const ids = await findPage(transaction, query, total);
    return { total, runs: await readRuns(transaction, ids) };
  });
}

/** Returns the workflow and project of the run; undefined if the user cannot see it. */
export function findRunOrigin(db: Db, runId: string, reach: Reach): Promise<RunOrigin | undefined> {
  return memberWorkflows(db, reach)
    .innerJoin('runs', 'runs.workflow_id', 'workflows.id')
    .select(['workflows.id as workflow_id', 'workflows.title as workflow_title'])
    .select(['projects.id as project_id', 'projects.name as project_name'])
    .where('runs.id', '=', runId)
    .where(isVisibleTo('runs', reach.userId))
    .executeTakeFirst();
}

/**
 * Counts runs only if the query filters them or lists tests or runs of assistants; otherwise adds up the counts in
 * `workflow_statistics`.
 */
async function countRuns(db: Db, query: RunsQuery): Promise<number> {
  const isCounted = query.status ?? query.startedFrom ?? query.startedBefore ?? (query.purpose !== 'run' || undefined);
  const { rows } = await (
    isCounted === undefined
      ? sql<{ total: number }>`
          SELECT coalesce(sum(recorded_count), 0)::bigint AS total FROM workflow_statistics
          WHERE workflow_id IN (SELECT id FROM ${matchingWorkflows(db, query)} AS matching)`
      : sql<{ total: number }>`
          WITH matching AS MATERIALIZED ${matchingWorkflows(db, query)}
          SELECT count(*) AS total FROM matching
          CROSS JOIN LATERAL (SELECT FROM runs WHERE ${isMatchingRun(query)} OFFSET 0) AS run`
  ).execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * Finds the ids of a page: the first runs of each workflow by an index, then the first of these. The search starts from
 * the nearer end, so that the last page is as fast as the first.
 */
async function findPage(db: Db, query: RunsQuery, total: number): Promise<string[]> {
  const { ordering, limit, offset } = query;
  const count = Math.min(limit, total - offset);
  const behind = total - offset - count;
  const isReversed = behind < offset;
  const skipped = isReversed ? behind : offset;
  const direction = ordering.startsWith('-') === isReversed ? sql`ASC` : sql`DESC`;
  const key = sql.ref(ordering.endsWith('cost') ? 'cost_usd' : 'created_at');
  const { rows } = await sql<{ id: string }>`
    WITH matching AS MATERIALIZED ${matchingWorkflows(db, query)}
    SELECT run.id FROM matching CROSS JOIN LATERAL (
      SELECT runs.id, ${key} AS sort_key FROM runs WHERE ${isMatchingRun(query)}
      ORDER BY ${key} ${direction}, runs.id ${direction} LIMIT ${skipped + count}
    ) AS run
    ORDER BY run.sort_key ${direction}, run.id ${direction} LIMIT ${count} OFFSET ${skipped}`.execute(db);
  const ids = rows.map((row) => row.id);
  return isReversed ? ids.toReversed() : ids;
}

/**
 * Finds the runs that wait for people, starting from the open requests. Leaves out runs in which other nodes are being
 * executed.
 */
async function findWaiting(db: Db, query: RunsQuery): Promise<{ total: number; ids: string[] }> {
  const { ordering, limit, offset } = query;
  const direction = ordering.startsWith('-') ? sql`DESC` : sql`ASC`;
  const key = sql.ref(ordering.endsWith('cost') ? 'cost_usd' : 'created_at');
  const { rows } = await sql<{ total: number; ids: string[] }>`
    WITH matching AS MATERIALIZED ${matchingWorkflows(db, query)},
    projects AS MATERIALIZED (SELECT DISTINCT project_id FROM matching),
    asking AS (
      SELECT run_id FROM projects JOIN approval_requests USING (project_id) WHERE status = 'pending'
      UNION
      SELECT run_id FROM projects JOIN human_tasks USING (project_id) WHERE status = 'pending'
      UNION
      SELECT wait.run_id FROM projects JOIN connections USING (project_id) JOIN waits AS wait
        ON wait.connection_id = connections.id AND wait.kind = 'connection' AND wait.closed_at IS NULL
    ), waiting AS MATERIALIZED (
      SELECT runs.id, ${key} AS sort_key FROM asking JOIN runs ON runs.id = asking.run_id
      CROSS JOIN matching
      WHERE ${isMatchingRun(query)} AND runs.status = 'In Progress'
        AND run_waits_for(runs.id) IN ('approval', 'human', 'connection')
    )
    SELECT (SELECT count(*) FROM waiting) AS total, ARRAY(
      SELECT id FROM waiting ORDER BY sort_key ${direction}, id ${direction} LIMIT ${limit} OFFSET ${offset}
    ) AS ids`.execute(db);
  return rows[0]!;
}

function matchingWorkflows(db: Db, { reach, projectId, workflowId, search }: RunsQuery) {
  return memberWorkflows(db, reach)
    .select(['workflows.id', 'workflows.project_id'])
    .$if(projectId !== undefined, (query) => query.where('workflows.project_id', '=', projectId!))
    .$if(workflowId !== undefined, (query) => query.where('workflows.id', '=', workflowId!))
    .$if(search !== undefined, (query) => query.where('workflows.title', 'ilike', containing(search!)));
}

function isMatchingRun({ reach, purpose, status, startedFrom, startedBefore }: RunsQuery): RawBuilder<unknown> {
  const conditions = [sql`runs.workflow_id = matching.id AND runs.purpose = ${purpose}`];
  if (purpose === 'assistant') conditions.push(isVisibleTo('runs', reach.userId));
  if (status !== undefined) conditions.push(sql`runs.status = ${status}`);
  if (startedFrom !== undefined) conditions.push(sql`runs.created_at >= ${startedFrom}`);
  if (startedBefore !== undefined) conditions.push(sql`runs.created_at < ${startedBefore}`);
  return sql.join(conditions, sql` AND `);
}

async function readRuns(db: Db, ids: string[]) {
  const runs = await db
    .selectFrom('runs')
    .innerJoin('workflows', 'workflows.id', 'runs.workflow_id')
    .innerJoin('projects', 'projects.id', 'workflows.project_id')
    .select(['workflows.id as workflow_id', 'workflows.title as workflow_title'])
    .select(['projects.id as project_id', 'projects.name as project_name'])
    .select([
      'runs.id',
      'workflow_version',
      'purpose',
      'status',
      'cost_usd',
      'error_code',
      'error_message',
      'is_api_run',
    ])
    .select(['use_in_marketplace_example', 'use_as_marketplace_template', 'runs.created_at', 'runs.updated_at'])
    .select(['run_started_at', 'run_finished_at', 'results_expired_at'])
    .select(['parent_run_id', 'parent_path', 'parent_node_id', 'resumed_from', totalCost('runs').as('total_cost_usd')])
    .where('runs.id', '=', anyOf(ids))
    .execute();
  const byId = new Map(runs.map((run) => [run.id, run]));
  return withWaits(
    db,
    ids.flatMap((id) => byId.get(id) ?? []),
  );
}
