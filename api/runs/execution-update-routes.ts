// Receives the reports of executors outside of this repository (docs/operate/operations.md).
import { z } from 'zod';
import { announceRunEnd } from '../../acceptance/announce-run-end.js';
import type { Database } from '../../db/core/client.js';
import { endRun, reportProgress, type RunChange } from '../../db/runs/run-life.js';
import { detailSchema } from '../http/answer-schemas.js';
import { ApiError, notFound } from '../http/errors.js';
import { integerField } from '../http/field-errors.js';
import { MAX_ID, uuid } from '../http/path-ids.js';
import type { RunDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';

const defineRoute = routesOf<RunDeps>();

const failure = z.object({ code: z.string().min(1), message: z.string() });

const body = z.object({
  sequence: integerField().min(1).max(MAX_ID),
  status: z.enum(['in progress', 'succeed', 'failed', 'cancelled']),
  // The database has no year 0.
  finished_at: z.iso
    .datetime({ offset: true })
    .refine((text) => !text.startsWith('0000'), 'Enter a valid date/time.')
    .optional(),
  nodes: z.record(z.string(), z.object({ status: z.literal('failed'), error: failure })).optional(),
  error: failure.extend({ node_id: z.string().optional() }).nullable().optional(),
});

type ExecutionUpdate = z.infer<typeof body>;

const outcomeSchema = z.object({ applied: z.boolean(), run_status: z.string() });

const executionUpdate = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/execution-update/:workflow_run_id/',
  summary: 'Applies what a worker reports, once and in order, for internal use.',
  auth: 'internal',
  audit: { action: 'run.reported', target: 'run', id: 'workflow_run_id', records: 'refusals' },
  params: z.object({ workflow_run_id: uuid }),
  body,
  responses: { 200: outcomeSchema, 409: detailSchema },
  async handler({ deps, params, body: update }) {
    const change = await apply(deps.db, params.workflow_run_id, update);
    const { applied, runStatus, reason } = change;
    if (reason === 'unknown_run') throw notFound();
    if (reason === 'already_terminal') throw new ApiError(409, 'run_ended', `The run has already ended: ${runStatus}.`);
    if (applied) announceRunEnd(deps, params.workflow_run_id, change);
    return { status: 200, body: { applied, run_status: runStatus } };
  },
});

function apply(db: Database, runId: string, update: ExecutionUpdate): Promise<RunChange> {
  const { sequence, status, finished_at: finishedAt, nodes, error } = update;
  if (status === 'in progress') return reportProgress(db, runId, sequence);
  const failedNodes = nodes && Object.fromEntries(Object.entries(nodes).map(([id, node]) => [id, node.error]));
  return endRun(db, runId, { status, error: error ?? undefined, finishedAt, failedNodes }, sequence);
}

export const executionUpdateRoutes: Route<RunDeps>[] = [executionUpdate];
