// The history of runs (docs/use/api.md, "History, cost, run again"), and the endpoint that cancels a run.
import { z } from 'zod';
import { findHistoryRun, listHistory } from '../../db/runs/history-repository.js';
import type { RunDeps } from './deps.js';
import { badRequestSchema } from '../http/answer-schemas.js';
import { orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { runParams } from '../http/path-ids.js';
import { queryPurpose } from '../http/query-values.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { cancelRun } from './cancel-run.js';
import { lazyRuns } from './lazy-runs.js';
import { listedRunSchema, runSchema, toListedRun, toListedRuns, toWholeRun, type RunViewDeps } from './run-view.js';

const defineRoute = routesOf<RunDeps>();

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/history/',
  summary: 'Lists the runs of a workflow; what is too long for a list is cut and marked `truncated`.',
  keyScope: 'run',
  access: { to: 'workflow', role: 'viewer' },
  query: z.object({
    ...pageQuery(1),
    purpose: queryPurpose,
    ordering: z.enum(['created_at', '-created_at', 'cost', '-cost']).default('-created_at'),
  }),
  responses: { 200: envelopeOf(listedRunSchema) },
  async handler({ deps, params, query }) {
    const { ordering, purpose } = query;
    const { resultRetentionDays: retentionDays } = deps.config;
    const page = { workflowId: params.id, purpose, ordering, retentionDays, ...toWindow(query) };
    const { total, runs, later } = await listHistory(deps.db, page);
    const items =
      later === undefined
        ? toListedRuns(deps, runs).map((run) => ({ ...run, ...temporalLink(deps, run) }))
        : lazyRuns(deps, later, (run) => ({
            ...toListedRun(deps, run, later.contentLimit),
            ...temporalLink(deps, run),
          }));
    return answerPage(query, total, items);
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/history/:run_id/',
  summary: 'Returns one run with its whole results.',
  keyScope: 'run',
  access: { to: 'workflow', role: 'viewer' },
  params: runParams,
  responses: { 200: runSchema },
  handler: ({ deps, params }) => answerRun(deps, params.id, params.run_id),
});

const cancel = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/history/:run_id/cancel/',
  summary: 'Cancels a run; 400 when it has finished.',
  keyScope: 'run',
  audit: { action: 'run.cancelled', target: 'run', id: 'run_id', commits: 'handler' },
  access: { to: 'workflow', role: 'editor' },
  params: runParams,
  responses: { 200: runSchema, 400: badRequestSchema },
  async handler({ deps, log, params, audit: { doer } }) {
    await cancelRun(deps, log, { workflowId: params.id, runId: params.run_id, doer });
    return answerRun(deps, params.id, params.run_id);
  },
});

export const historyRoutes: Route<RunDeps>[] = [list, read, cancel];

type ViewingDeps = RunViewDeps & Pick<RunDeps, 'config' | 'temporal'>;

export async function answerRun(deps: ViewingDeps, workflowId: number, runId: string): Promise<RouteResult> {
  return { status: 200, body: await findRunAnswer(deps, workflowId, runId) };
}

/** Returns the history item with its contents. Throws 404 if the workflow has no such run. */
export async function findRunAnswer(
  deps: ViewingDeps,
  workflowId: number,
  runId: string,
): Promise<Record<string, unknown>> {
  const run = orNotFound(await findHistoryRun(deps.db, workflowId, runId, deps.config.resultRetentionDays));
  return { ...toWholeRun(deps, run), ...temporalLink(deps, run) };
}

/** Returns the link to the run in the Temporal UI if `TEMPORAL_UI_URL` is set. A refused run (`Draft`) has none. */
function temporalLink(
  { config, temporal }: ViewingDeps,
  run: { id?: unknown; status?: unknown },
): { temporal_url?: string } {
  if (config.temporalUiUrl === undefined || run.status === 'Draft') return {};
  const { namespace } = temporal.options;
  return {
    temporal_url: `${config.temporalUiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${String(run.id)}`,
  };
}
