// The public view of published workflows. A page takes two statements: one selects the ids, one reads the rows.
import { sql, type Expression, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { containing } from '../core/like-pattern.js';
import { isInReach, type Reach } from '../access/reach.js';
import {
  bySortKey,
  matchesFilters,
  type CatalogOrdering,
  type WorkflowFilters,
} from '../workflows/workflow-filters.js';

export interface MarketplaceQuery extends WorkflowFilters {
  /** Undefined for an anonymous reader. */
  reach: Reach | undefined;
  titleContains: string | undefined;
  publishedFrom: Date | undefined;
  publishedBefore: Date | undefined;
  /** Undefined for the last published first. */
  ordering: CatalogOrdering | undefined;
  limit: number;
  offset: number;
}

/** Runs, costs and times include the copies. */
export interface MarketplaceWorkflow {
  id: number;
  slug: string;
  market_title: string;
  short_description: string;
  readme_guide: string;
  available_languages: string[];
  run_fee_usd: string;
  free_runs_per_user: number;
  run_count: number;
  /** USD, rounded to 12 decimals. */
  average_cost_usd: string;
  last_run_at: Date | null;
  user_count: number;
  /** The caller's copy, if it can be opened in the caller's reach. */
  copy_id: number | null;
}

/** The reach of anonymous readers. No user has this id. */
const NOBODY: Reach = { userId: 0 };

export async function listMarketplace(
  db: Db,
  query: MarketplaceQuery,
): Promise<{ total: number; workflows: MarketplaceWorkflow[] }> {
  const { total, ids } = await pickPage(db, query);
  const workflows = await readWorkflows(db, ids, query.reach);
  const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  return { total, workflows: ids.flatMap((id) => byId.get(id) ?? []) };
}

export async function findMarketplaceWorkflow(
  db: Db,
  slug: string,
  reach: Reach | undefined,
): Promise<MarketplaceWorkflow | undefined> {
  const id = await findPublishedId(db, slug);
  return id === undefined ? undefined : (await readWorkflows(db, [id], reach))[0];
}

export async function findPublishedId(db: Db, slug: string): Promise<number | undefined> {
  const found = await publishedWorkflows(db)
    .select('workflows.id')
    .where('workflows.slug', '=', slug)
    .executeTakeFirst();
  return found?.id;
}

export function publishedWorkflows(db: Db) {
  return db
    .selectFrom('workflows')
    .innerJoin('projects', 'projects.id', 'workflows.project_id')
    .where(sql<boolean>`workflows.is_published`)
    .where('workflows.archived_at', 'is', null)
    .where('projects.deleted_at', 'is', null);
}

async function pickPage(db: Db, query: MarketplaceQuery): Promise<{ total: number; ids: number[] }> {
  return db
    .with(
      (cte) => cte('matching').materialized(),
      () => selectMatching(db, query),
    )
    .selectNoFrom([
      sql<number>`(SELECT count(*) FROM matching)`.as('total'),
      sql<number[]>`ARRAY(SELECT id FROM matching ORDER BY ${bySortKey(query.ordering ?? '-')}
        LIMIT ${query.limit} OFFSET ${query.offset})`.as('ids'),
    ])
    .executeTakeFirstOrThrow();
}

/** Adds up the statistics of copies only if the order needs them, and then for all workflows in one pass. */
function selectMatching(db: Db, query: MarketplaceQuery): Expression<{ id: number; sort_key: unknown }> {
  const { titleContains, publishedFrom, publishedBefore, ordering } = query;
  const matching = publishedWorkflows(db)
    .select('workflows.id')
    .where(matchesFilters(query))
    .$if(titleContains !== undefined, (own) => own.where('workflows.market_title', 'ilike', containing(titleContains!)))
    .$if(publishedFrom !== undefined, (own) => own.where('workflows.last_published_at', '>=', publishedFrom!))
    .$if(publishedBefore !== undefined, (own) => own.where('workflows.last_published_at', '<', publishedBefore!));
  if (ordering === undefined) return matching.select(sql`workflows.last_published_at`.as('sort_key'));
  if (ordering.endsWith('created_at')) return matching.select(sql`workflows.created_at`.as('sort_key'));
  const figure = ordering.endsWith('total_cost')
    ? sql`own.total_cost_usd + coalesce(copied.total_cost_usd, 0)`
    : sql`greatest(own.last_run_at, copied.last_run_at)`;
  return matching
    .innerJoin('workflow_statistics as own', 'own.workflow_id', 'workflows.id')
    .leftJoin(figuresOfCopies(db), 'copied.source_id', 'workflows.id')
    .select(figure.as('sort_key'));
}

function figuresOfCopies(db: Db) {
  return db
    .selectFrom('marketplace_copies as copy')
    .innerJoin('workflow_statistics as figures', 'figures.workflow_id', 'copy.copy_id')
    .select((eb) => [
      'copy.source_id',
      eb.fn.sum<string>('figures.total_cost_usd').as('total_cost_usd'),
      eb.fn.max('figures.last_run_at').as('last_run_at'),
    ])
    .groupBy('copy.source_id')
    .as('copied');
}

async function readWorkflows(db: Db, ids: number[], reach: Reach = NOBODY): Promise<MarketplaceWorkflow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<MarketplaceWorkflow>`
    SELECT workflow.id, workflow.slug, workflow.market_title, workflow.short_description, workflow.readme_guide,
      workflow.available_languages, workflow.run_fee_usd, workflow.free_runs_per_user,
      own.run_count + copies.run_count AS run_count, copies.user_count,
      round(coalesce((own.total_cost_usd + copies.total_cost_usd) / nullif(own.run_count + copies.run_count, 0), 0), 12)
        AS average_cost_usd,
      greatest(own.last_run_at, copies.last_run_at) AS last_run_at, callers.copy_id
    FROM workflows workflow
    JOIN workflow_statistics own ON own.workflow_id = workflow.id
    CROSS JOIN LATERAL (
      SELECT count(DISTINCT copy.user_id) AS user_count, coalesce(sum(figures.run_count), 0) AS run_count,
        coalesce(sum(figures.total_cost_usd), 0) AS total_cost_usd, max(figures.last_run_at) AS last_run_at
      FROM marketplace_copies copy JOIN workflow_statistics figures ON figures.workflow_id = copy.copy_id
      WHERE copy.source_id = workflow.id) copies
    LEFT JOIN LATERAL (${liveCopyOf(sql`workflow.id`, reach)}) callers ON true
    WHERE workflow.id = ANY (${ids}::integer[])`.execute(db);
  return rows;
}

/** The id of the user's copy that can still be opened in this reach; no row if there is none. */
export function liveCopyOf(sourceId: RawBuilder<unknown>, reach: Reach): RawBuilder<{ copy_id: number }> {
  return sql<{ copy_id: number }>`
    SELECT copy.copy_id
    FROM marketplace_copies copy
    JOIN workflows live ON live.id = copy.copy_id AND live.archived_at IS NULL
    JOIN projects project ON project.id = live.project_id AND project.deleted_at IS NULL
    JOIN project_members member ON member.project_id = project.id AND member.user_id = copy.user_id
    WHERE copy.source_id = ${sourceId} AND copy.user_id = ${reach.userId} AND ${isInReach('project.id', reach)}
    ORDER BY copy.copy_id LIMIT 1`;
}
