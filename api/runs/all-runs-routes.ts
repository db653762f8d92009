// Lists the runs of all workflows that the caller may see, and returns one run by its id alone (docs/use/api.md,
// "History, cost, run again").
import { z } from 'zod';
import { findRunOrigin, listRuns, type RunOrigin } from '../../db/runs/runs-list-repository.js';
import { findVisible } from '../access/authorize.js';
import { answerPage, envelopeOf, pageQuery, queryInteger, toWindow } from '../http/pagination.js';
import { MAX_ID, uuid } from '../http/path-ids.js';
import {
  queryBoolean,
  queryMoment,
  queryMomentEnd,
  queryOrdering,
  queryAnyPurpose,
  queryText,
} from '../http/query-values.js';
import type { RunDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { findRunAnswer } from './history-routes.js';
import { runSchema, toRun } from './run-view.js';

const defineRoute = routesOf<RunDeps>();

const origin = {
  workflow: z.object({ id: z.int(), title: z.string() }),
  project: z.object({ id: z.int(), name: z.string() }),
};

const lightRunSchema = runSchema
  .omit({ result: true, data: true, input_data: true, input_fields: true, answer_nodes: true, temporal_url: true })
  .extend(origin);

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/runs/',
  summary: 'Lists the runs of all workflows of the caller, without their contents.',
  description:
    'Runs of deleted workflows are left out. `search` looks into the titles of workflows. `started_after` and ' +
    '`started_before` are about `created_at`, the moment in which a run was accepted.',
  query: z.object({
    ...pageQuery(1),
    project: queryInteger(0, MAX_ID).optional(),
    workflow: queryInteger(0, MAX_ID).optional(),
    status: runSchema.shape.status.optional(),
    search: queryText,
    started_after: queryMoment.optional(),
    started_before: queryMomentEnd.optional(),
    purpose: queryAnyPurpose.describe('`assistant`: the answers of the assistant in the editor to the caller'),
    waiting: queryBoolean
      .default(false)
      .describe('Only runs that wait for people: `waiting_for` is `approval`, `human` or `connection`'),
    ordering: queryOrdering(['created_at', 'cost']).default('-created_at'),
  }),
  responses: { 200: envelopeOf(lightRunSchema) },
  async handler({ deps, caller, query }) {
    const { total, runs } = await listRuns(deps.db, {
      reach: caller,
      projectId: query.project,
      workflowId: query.workflow,
      status: query.status,
      search: query.search,
      startedFrom: query.started_after,
      startedBefore: query.started_before,
      purpose: query.purpose,
      isWaiting: query.waiting,
      ordering: query.ordering,
      ...toWindow(query),
    });
    const items = runs.map((run) => toRun(run, deps.currencies, toOrigin(run)));
    return answerPage(query, total, items);
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/runs/:run_id/',
  summary: 'Returns one run with its whole results, to a caller who knows only its id.',
  keyScope: 'run',
  params: z.object({ run_id: uuid }),
  responses: { 200: runSchema.extend(origin) },
  async handler({ deps, caller, params }) {
    const found = await findVisible(caller, (reach) => findRunOrigin(deps.db, params.run_id, reach));
    const run = await findRunAnswer(deps, found.workflow_id, params.run_id);
    return { status: 200, body: { ...run, ...toOrigin(found) } };
  },
});

export const allRunsRoutes: Route<RunDeps>[] = [list, read];

function toOrigin(run: RunOrigin): { workflow: { id: number; title: string }; project: { id: number; name: string } } {
  return {
    workflow: { id: run.workflow_id, title: run.workflow_title },
    project: { id: run.project_id, name: run.project_name },
  };
}
