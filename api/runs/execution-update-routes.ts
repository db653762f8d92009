// The workers' reports on runs. Specification, "Internal".
import { z } from 'zod';
import { tellRunEnd } from '../../acceptance/announce-run-end.js';
import { applyExecutionUpdate } from '../../db/runs/run-life.js';
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

const outcomeSchema = z.object({ applied: z.boolean(), run_status: z.string() });

const executionUpdate = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/execution-update/:workflow_run_id/',
  summary: 'Applies what a worker reports, once and in order. Internal.',
  auth: 'internal',
  audit: { action: 'run.reported', target: 'run', id: 'workflow_run_id', records: 'refusals' },
  params: z.object({ workflow_run_id: uuid }),
  body,
  responses: { 200: outcomeSchema, 409: detailSchema },
  async handler({ deps, params, body: update }) {
    const outcome = await applyExecutionUpdate(deps.db, params.workflow_run_id, update);
    const { applied, runStatus, reason } = outcome;
    if (reason === 'unknown_run') throw notFound();
    if (reason === 'already_terminal') throw new ApiError(409, 'run_ended', `The run has already ended: ${runStatus}.`);
    if (applied) tellRunEnd(deps, params.workflow_run_id, outcome);
    return { status: 200, body: { applied, run_status: runStatus } };
  },
});

export const executionUpdateRoutes: Route<RunDeps>[] = [executionUpdate];
