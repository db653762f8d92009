// `all-workflows`: the workflows of all projects of a user, bookmarked ones first. A page takes four statements: pick
// the ids, measure the drawings, read the records, read the statistics. If the drawings are large, the last two are
// executed for each workflow (`listDrawings`). A fifth reads the last runs if they are requested.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { containing } from '../core/like-pattern.js';
import type { StoredRunStatus } from '../core/tables.js';
import { anyOf } from '../core/statement.js';
import { bySortKey, matchesFilters, type CatalogOrdering, type WorkflowFilters } from './workflow-filters.js';
import type { Reach } from '../access/reach.js';
import { findWorkflows, memberWorkflows, type MemberWorkflow } from './workflows-repository.js';

export interface CatalogQuery extends WorkflowFilters {
  reach: Reach;
  /** Matched against the title and the marketplace title. */
  search: string | undefined;
  titleContains: string | undefined;
  projectId: number | undefined;
  /** A workflow must have all of these. */
  tags: string[] | undefined;
  isOwn: boolean;
  ordering: CatalogOrdering;
  limit: number;
  offset: number;
}

export interface CatalogWorkflow {
  workflow: MemberWorkflow;
  figures: WorkflowFigures;
}

interface WorkflowFigures {
  workflowId: number;
  isBookmarked: boolean;
  lastRunAt: Date | null;
  /** USD; null if the workflow never ran. */
  lastRunCost: string | null;
  /** Null if no run has finished. */
  averageDurationSeconds: string | null;
  totalCostUsd: string;
}

const SORT_KEYS: Record<string, RawBuilder<unknown>> = {
  last_run_at: sql`statistics.last_run_at`,
  total_cost: sql`statistics.total_cost_usd`,
  created_at: sql`workflows.created_at`,
};

export async function findCatalogWorkflow(
  db: Db,
  workflowId: number,
  reach: Reach,
): Promise<CatalogWorkflow | undefined> {
  return (await findCatalogWorkflows(db, [workflowId], reach))[0];
}

/** Returns only the ids of the page, so that the wide rows are read for the page alone (`findCatalogWorkflows`). */
export async function listCatalog(db: Db, query: CatalogQuery): Promise<{ total: number; ids: number[] }> {
  return db
    .with(
      (cte) => cte('matching').materialized(),
      () => selectMatching(db, query),
    )
    .selectNoFrom([
      sql<number>`(SELECT count(*) FROM matching)`.as('total'),
      sql<number[]>`ARRAY(SELECT id FROM matching ORDER BY is_bookmarked DESC, ${bySortKey(query.ordering)}
        LIMIT ${query.limit} OFFSET ${query.offset})`.as('ids'),
    ])
    .executeTakeFirstOrThrow();
}

function selectMatching(db: Db, query: CatalogQuery) {
  const { reach, search, titleContains, projectId, tags, isOwn, ordering } = query;
  const { userId } = reach;
  // An outer join, although every workflow has a statistics row: PostgreSQL omits the join if no statistics are read.
  return (
    memberWorkflows(db, reach)
      .leftJoin('workflow_statistics as statistics', 'statistics.workflow_id', 'workflows.id')
      .leftJoin('bookmarks', (join) =>
        join.onRef('bookmarks.workflow_id', '=', 'workflows.id').on('bookmarks.user_id', '=', userId),
      )
      .select('workflows.id')
      .select(sql<boolean>`bookmarks.user_id IS NOT NULL`.as('is_bookmarked'))
      .select(SORT_KEYS[ordering.replace('-', '')]!.as('sort_key'))
      .where(matchesFilters(query))
      .$if(isOwn, (own) => own.where('workflows.author_id', '=', userId))
      .$if(projectId !== undefined, (own) => own.where('workflows.project_id', '=', projectId!))
      // The first part is the condition of the index.
      .$if(tags !== undefined, (own) =>
        own.where(sql<boolean>`workflows.tags <> '{}' AND workflows.tags @> ${tags}::text[]`),
      )
      .$if(titleContains !== undefined, (own) => own.where('workflows.title', 'ilike', containing(titleContains!)))
      .$if(search !== undefined, (own) =>
        own.where((eb) =>
          eb.or([
            eb('workflows.title', 'ilike', containing(search!)),
            eb('workflows.market_title', 'ilike', containing(search!)),
          ]),
        ),
      )
  );
}

/** Returns the workflows among `ids` that are in reach, in that order. Drawings of more than `limitBytes` are null. */
export async function findCatalogWorkflows(
  db: Db,
  ids: number[],
  reach: Reach,
  limitBytes?: number,
): Promise<CatalogWorkflow[]> {
  const workflows = await findWorkflows(db, ids, reach, limitBytes);
  const figures = await readFigures(db, ids, reach.userId);
  return workflows.flatMap((workflow) => {
    const own = figures.get(workflow.id);
    return own === undefined ? [] : { workflow, figures: own };
  });
}

async function readFigures(db: Db, ids: number[], userId: number): Promise<Map<number, WorkflowFigures>> {
  if (ids.length === 0) return new Map();
  const figures = await db
    .selectFrom('workflow_statistics as statistics')
    .leftJoin('runs as run', 'run.id', 'statistics.last_run_id')
    .leftJoin('bookmarks as bookmark', (join) =>
      join.onRef('bookmark.workflow_id', '=', 'statistics.workflow_id').on('bookmark.user_id', '=', userId),
    )
    .select([
      'statistics.workflow_id as workflowId',
      'statistics.last_run_at as lastRunAt',
      'run.cost_usd as lastRunCost',
    ])
    .select((row) => [
      row('bookmark.user_id', 'is not', null).$castTo<boolean>().as('isBookmarked'),
      sql<string | null>`statistics.total_duration_seconds / nullif(statistics.finished_count, 0)`.as(
        'averageDurationSeconds',
      ),
    ])
    .select('statistics.total_cost_usd as totalCostUsd')
    .where('statistics.workflow_id', '=', anyOf(ids))
    .execute();
  return new Map(figures.map((row) => [row.workflowId, row]));
}

/** Returns the tags of a project's workflows in the order of their characters. The caller must have checked access. */
export async function listTags(db: Db, projectId: number): Promise<{ tag: string; count: number }[]> {
  const { rows } = await sql<{ tag: string; count: number }>`
    SELECT tag, count(*)::integer AS count FROM workflows, unnest(tags) AS tag
    WHERE project_id = ${projectId} AND archived_at IS NULL AND tags <> '{}'
    GROUP BY tag ORDER BY tag COLLATE "C"`.execute(db);
  return rows;
}

const LATEST = 20;

/**
 * Returns the statuses of the last runs of each workflow, newest first, without tests and runs of the assistant in the
 * editor. Reads only the returned entries of one index (`runs_history`).
 */
export async function listLatestStatuses(db: Db, ids: number[]): Promise<Map<number, StoredRunStatus[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: number; statuses: StoredRunStatus[] }>`
    SELECT wanted.id, ARRAY(
      SELECT status FROM runs WHERE workflow_id = wanted.id AND purpose = 'run'
      ORDER BY created_at DESC, runs.id DESC LIMIT ${LATEST}
    ) AS statuses
    FROM unnest(${ids}::bigint[]) AS wanted (id)`.execute(db);
  return new Map(rows.map(({ id, statuses }) => [id, statuses]));
}
