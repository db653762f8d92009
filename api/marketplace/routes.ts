// The marketplace (docs/use/interface-notes/catalog.md). Reading needs no credentials; a caller with valid ones also
// learns which copies are its own.
import { z } from 'zod';
import { findExample, listExamples, type HistoryRun } from '../../db/runs/history-repository.js';
import {
  findMarketplaceWorkflow,
  findPublishedId,
  listMarketplace,
} from '../../db/marketplace/marketplace-repository.js';
import { copyWorkflow } from './copy-from-marketplace.js';
import type { MarketplaceDeps } from './deps.js';
import { orNotFound } from '../http/errors.js';
import { lazyRuns } from '../runs/lazy-runs.js';
import { exampleSchema, listedExampleSchema, toExample, toListedExample } from './example-view.js';
import { marketplaceWorkflowSchema, toMarketplaceWorkflow } from './marketplace-view.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import { queryDay, queryDayEnd, queryIds, queryLanguages, queryOrdering, queryText } from '../http/query-values.js';
import { routesOf, type Route } from '../http/route.js';
import { importWarnings, toWorkflow, workflowSchema } from '../workflows/workflow-view.js';

const defineRoute = routesOf<MarketplaceDeps>();

const marketplacePath = '/api/v1/workflows/marketplace/';
const slugPath = '/api/v1/workflows/marketplace/:slug/';
/** A text that cannot be a slug is a 404. */
const slugParams = z.object({ slug: z.string().regex(/^[a-z0-9-]{1,120}$/) });
/** The list of examples is not paginated, hence the limit. */
const MAX_EXAMPLES = 50;

const list = defineRoute({
  method: 'GET',
  path: marketplacePath,
  summary: 'Lists published workflows, the last published first.',
  auth: 'optional',
  query: z.object({
    ...pageQuery(1),
    search: queryText,
    categories: queryIds,
    subcategories: queryIds,
    languages: queryLanguages,
    marketplace_date_last_publication_after: queryDay.optional(),
    marketplace_date_last_publication_before: queryDayEnd.optional(),
    ordering: queryOrdering(['total_cost', 'last_run_at', 'created_at']).optional(),
  }),
  repeatable: ['categories', 'subcategories'],
  responses: { 200: envelopeOf(marketplaceWorkflowSchema) },
  async handler({ deps, caller, query }) {
    const { total, workflows } = await listMarketplace(deps.db, {
      reach: caller,
      titleContains: query.search,
      categories: query.categories,
      subcategories: query.subcategories,
      languages: query.languages,
      publishedFrom: query.marketplace_date_last_publication_after,
      publishedBefore: query.marketplace_date_last_publication_before,
      ordering: query.ordering,
      ...toWindow(query),
    });
    const items = workflows.map((workflow) => toMarketplaceWorkflow(workflow, deps.currencies));
    return answerPage(query, total, items);
  },
});

const read = defineRoute({
  method: 'GET',
  path: slugPath,
  summary: 'Returns one published workflow.',
  auth: 'optional',
  params: slugParams,
  responses: { 200: marketplaceWorkflowSchema },
  async handler({ deps, caller, params }) {
    const workflow = orNotFound(await findMarketplaceWorkflow(deps.db, params.slug, caller));
    return { status: 200, body: toMarketplaceWorkflow(workflow, deps.currencies) };
  },
});

const copy = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/marketplace/:slug/add-from-marketplace/',
  summary: "Returns the caller's copy and makes it if there is none; its author gets the original.",
  audit: { action: 'workflow.copied', target: 'workflow', makes: 'id', commits: 'handler' },
  params: slugParams,
  responses: { 201: workflowSchema.extend({ warnings: importWarnings }) },
  async handler({ deps, tenant, caller, params, memory, signal, audit }) {
    const asking = { tenant, memory, signal, audit };
    const { workflow, warnings } = await copyWorkflow(deps, asking, params.slug, caller);
    return { status: 201, body: { ...toWorkflow(workflow), warnings } };
  },
});

const examples = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/marketplace/:slug/examples/',
  summary: `Lists the newest ${MAX_EXAMPLES} example runs; long node results are cut and marked \`truncated\`.`,
  auth: 'open',
  params: slugParams,
  responses: { 200: z.array(listedExampleSchema) },
  async handler({ deps, params, tenant, signal }) {
    const asker = { tenant, signal };
    const { resultRetentionDays } = deps.config;
    const workflowId = await requirePublished(deps, params.slug);
    const { runs, later } = await listExamples(deps.db, workflowId, MAX_EXAMPLES, resultRetentionDays);
    if (later === undefined) return { status: 200, body: runs.map((run) => toListedExample(deps, asker, run)) };
    const toItem = (run: HistoryRun) => toListedExample(deps, asker, run, later.contentLimit);
    return { status: 200, body: lazyRuns(deps, later, toItem) };
  },
});

const example = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/marketplace/:slug/examples/:run_id/',
  summary: 'Returns one example run with its whole results.',
  auth: 'open',
  params: slugParams.extend({ run_id: uuid }),
  responses: { 200: exampleSchema },
  async handler({ deps, params, tenant, memory, signal }) {
    const { resultRetentionDays } = deps.config;
    const workflowId = await requirePublished(deps, params.slug);
    const run = orNotFound(await findExample(deps.db, workflowId, params.run_id, resultRetentionDays));
    return { status: 200, body: await toExample(deps, { tenant, memory, signal }, run) };
  },
});

export const marketplaceRoutes: Route<MarketplaceDeps>[] = [list, read, copy, examples, example];

async function requirePublished({ db }: MarketplaceDeps, slug: string): Promise<number> {
  return orNotFound(await findPublishedId(db, slug));
}
