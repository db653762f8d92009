// The catalog of all workflows that the caller may see, their tags, and bookmarks
// (docs/use/interface-notes/catalog.md).
import { z } from 'zod';
import { addBookmark, deleteBookmark } from '../../db/workflows/bookmarks-repository.js';
import {
  findCatalogWorkflow,
  findCatalogWorkflows,
  listCatalog,
  listLatestStatuses,
  listTags,
} from '../../db/workflows/catalog-repository.js';
import { nothing } from '../http/answer-schemas.js';
import { catalogWorkflowSchema, listedCatalogWorkflowSchema, toCatalogWorkflow } from './catalog-view.js';
import { orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, queryInteger, toWindow } from '../http/pagination.js';
import { MAX_ID } from '../http/path-ids.js';
import { listDrawings } from './list-drawings.js';
import { queryBoolean, queryIds, queryLanguages, queryOrdering, queryTags, queryText } from '../http/query-values.js';
import type { WorkflowDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';

const defineRoute = routesOf<WorkflowDeps>();

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/all-workflows/',
  summary: 'Lists the workflows of all projects of the caller, bookmarked ones first.',
  query: z.object({
    ...pageQuery(1),
    search: queryText,
    title__icontains: queryText,
    project: queryInteger(0, MAX_ID).optional(),
    categories: queryIds,
    subcategories: queryIds,
    languages: queryLanguages,
    tag: queryTags.describe('May be repeated: workflows that have all of them'),
    own_scripts: queryBoolean.default(false),
    ordering: queryOrdering(['last_run_at', 'total_cost', 'created_at']).default('-created_at'),
    include: z.literal('latest_runs').optional().describe('Adds `latest_runs` to each workflow'),
  }),
  repeatable: ['categories', 'subcategories', 'tag'],
  responses: { 200: envelopeOf(listedCatalogWorkflowSchema) },
  async handler({ deps, caller, query }) {
    const { total, ids } = await listCatalog(deps.db, {
      reach: caller,
      search: query.search,
      titleContains: query.title__icontains,
      projectId: query.project,
      categories: query.categories,
      subcategories: query.subcategories,
      languages: query.languages,
      tags: query.tag,
      isOwn: query.own_scripts,
      ordering: query.ordering,
      ...toWindow(query),
    });
    const latest = query.include === undefined ? undefined : await listLatestStatuses(deps.db, ids);
    const items = await listDrawings(deps, ids, async (asked, limitBytes) => {
      const workflows = await findCatalogWorkflows(deps.db, asked, caller, limitBytes);
      return workflows.map((workflow) => ({
        ...toCatalogWorkflow(workflow, deps.currencies),
        ...(latest !== undefined && { latest_runs: latest.get(workflow.workflow.id) ?? [] }),
      }));
    });
    return answerPage(query, total, items);
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/all-workflows/:id/',
  summary: 'Returns one workflow with its figures.',
  readsDrawing: 'text',
  access: { to: 'workflow', role: 'viewer' },
  responses: { 200: catalogWorkflowSchema },
  async handler({ deps, caller, params }) {
    const workflow = orNotFound(await findCatalogWorkflow(deps.db, params.id, caller));
    return { status: 200, body: toCatalogWorkflow(workflow, deps.currencies) };
  },
});

const tags = defineRoute({
  method: 'GET',
  path: '/api/v1/projects/:id/tags/',
  summary: 'Lists the tags of the workflows of a project, each with the number of workflows that have it.',
  access: { to: 'project', role: 'viewer' },
  responses: { 200: z.array(z.object({ tag: z.string(), count: z.int() })) },
  async handler({ deps, params }) {
    return { status: 200, body: await listTags(deps.db, params.id) };
  },
});

const bookmark = defineRoute({
  method: 'POST',
  path: '/api/v1/all-workflows/:id/add-bookmark/',
  summary: 'Bookmarks the workflow for the caller; a repeat changes nothing.',
  audit: { action: 'workflow.bookmarked', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'viewer' },
  responses: { 201: z.object({ message: z.string() }) },
  async handler({ deps, caller, params }) {
    await addBookmark(deps.db, caller.userId, params.id);
    return { status: 201, body: { message: 'Bookmark added' } };
  },
});

const unbookmark = defineRoute({
  method: 'DELETE',
  path: '/api/v1/all-workflows/:id/delete-bookmark/',
  summary: "Removes the caller's bookmark; without one, nothing changes.",
  audit: { action: 'workflow.bookmarked', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'viewer' },
  responses: { 204: nothing },
  async handler({ deps, caller, params }) {
    await deleteBookmark(deps.db, caller.userId, params.id);
    return { status: 204 };
  },
});

export const allWorkflowsRoutes: Route<WorkflowDeps>[] = [list, read, tags, bookmark, unbookmark];
