// Runs of all workflows that the caller sees. Specification: extensions, "Going on, going back" and "What a run page
// needs to know".
import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import { findRunOrigin, listRuns, type ListedRun, type RunOrigin } from '../../db/runs/runs-list-repository.js';
import type { Reach } from '../../db/projects/reach.js';
import { hiddenFrom } from '../access/authorize.js';
import { badRequestSchema, detailSchema, keyErrors } from '../http/answer-schemas.js';
import { envelopeOf, pageQuery, queryInteger, toPage, toWindow } from '../http/pagination.js';
import { MAX_ID, uuid } from '../http/path-ids.js';
import { queryMoment, queryMomentEnd, queryOrdering, queryText } from '../http/query-values.js';
import { defineRoute, type Route } from '../http/route.js';
import { findRunAnswer } from './history-routes.js';
import { runSchema, toDurationSeconds, toParent, toRunError } from './run-view.js';

const origin = {
  workflow: z.object({ id: z.int(), title: z.string() }),
  project: z.object({ id: z.int(), name: z.string() }),
};

/** A run without its contents. */
const lightRunSchema = runSchema
  .omit({ result: true, data: true, input_data: true, input_fields: true, temporal_url: true })
  .extend(origin);

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/runs/',
  summary: 'The runs of all workflows of the caller, without their contents.',
  description:
    'Runs of deleted workflows are left out. `search` looks into the titles of workflows. `started_after` and ' +
    '`started_before` are about `created_at`, the moment in which a run was accepted.',
  auth: 'key',
  keyScope: 'full',
  query: z.object({
    ...pageQuery(1),
    project: queryInteger(0, MAX_ID).optional(),
    workflow: queryInteger(0, MAX_ID).optional(),
    status: runSchema.shape.status.optional(),
    search: queryText,
    started_after: queryMoment.optional(),
    started_before: queryMomentEnd.optional(),
    ordering: queryOrdering(['created_at', 'cost']).default('-created_at'),
  }),
  responses: { 200: envelopeOf(lightRunSchema), 400: badRequestSchema, ...keyErrors },
  async handler({ deps, caller, query }) {
    const page = toPage(query);
    const { total, runs } = await listRuns(deps.db, {
      reach: caller,
      projectId: query.project,
      workflowId: query.workflow,
      status: query.status,
      search: query.search,
      startedFrom: query.started_after,
      startedBefore: query.started_before,
      ordering: query.ordering,
      ...toWindow(page),
    });
    return { status: 200, body: { ...page, total, items: runs.map((run) => toLightRun(run, deps.currencies)) } };
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/runs/:run_id/',
  summary: 'One run, its results whole, for who has only its id.',
  auth: 'key',
  keyScope: 'full',
  params: z.object({ run_id: uuid }),
  responses: { 200: runSchema.extend(origin), 404: detailSchema, ...keyErrors },
  async handler({ deps, caller, params }) {
    const find = (reach: Reach) => findRunOrigin(deps.db, params.run_id, reach);
    const found = await find(caller);
    if (found === undefined) throw await hiddenFrom(caller, find);
    const run = await findRunAnswer(deps, found.workflow_id, params.run_id);
    return { status: 200, body: { ...run, ...toOrigin(found) } };
  },
});

export const allRunsRoutes: Route[] = [list, read];

function toLightRun(run: ListedRun, currencies: Currencies): z.infer<typeof lightRunSchema> {
  return {
    id: run.id,
    ...toOrigin(run),
    workflow_version: run.workflow_version,
    created_at: run.created_at.toISOString(),
    updated_at: run.updated_at.toISOString(),
    run_started_at: run.run_started_at?.toISOString() ?? null,
    run_finished_at: run.run_finished_at?.toISOString() ?? null,
    status: run.status,
    is_api_run: run.is_api_run,
    use_in_marketplace_example: run.use_in_marketplace_example,
    use_as_marketplace_template: run.use_as_marketplace_template,
    cost: toAmount(run.cost_usd, currencies),
    ...toParent(run, currencies),
    resumed_from: run.resumed_from,
    duration: toDurationSeconds(run.run_started_at, run.run_finished_at),
    error: toRunError(run),
    ...(run.results_expired_at === null ? {} : { results_expired_at: run.results_expired_at.toISOString() }),
  };
}

function toOrigin(run: RunOrigin): { workflow: { id: number; title: string }; project: { id: number; name: string } } {
  return {
    workflow: { id: run.workflow_id, title: run.workflow_title },
    project: { id: run.project_id, name: run.project_name },
  };
}
