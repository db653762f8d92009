// Resumes a run: starts a new run that reuses the results of the earlier one (docs/use/resume.md).
import { z } from 'zod';
import { findDrawing } from '../../../db/workflows/workflows-repository.js';
import { MAX_NODES } from '../../../graph/document.js';
import { badRequestSchema } from '../../http/answer-schemas.js';
import { waitHeaders } from '../../http/conditional.js';
import { orNotFound } from '../../http/errors.js';
import { nodeId, runParams } from '../../http/path-ids.js';
import type { RunDeps } from '../deps.js';
import { routesOf, type Route } from '../../http/route.js';
import { findFirstAnswer, idempotencyHeaders, toKeyedRequest } from '../idempotency.js';
import { answerReRun } from '../routes.js';
import { envelopeSchema, refusedRunSchema } from '../../envelope/run-envelope.js';
import { linkRequestToRun } from '../run-traces.js';
import { waitForResults } from '../wait-for-results.js';
import { resumeRun } from './resume-run.js';

const defineRoute = routesOf<RunDeps>();

const resume = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/history/:run_id/resume/',
  summary: 'Starts a run that takes over the results of an earlier one and executes only what is left.',
  description:
    'Without `from`, it begins with what failed, was cancelled or never ran. Results that are taken over are marked ' +
    '`reused`: nothing is executed and nothing paid for them. 400 with the code `run_open`: the run, or one that it has ' +
    'started, is open; `run_expired`: its results are gone; `nothing_left`: every node has its result; ' +
    '`outcome_unknown`: nobody knows what a call of a node that would be repeated has done, and `accept_unknown` is not ' +
    'set; `unknown_node`: `from` names a node inside a body, or one that the run never had.',
  readsDrawing: 'parsed',
  keyScope: 'run',
  audit: { action: 'run.started', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  params: runParams,
  body: z.object({
    from: z.array(nodeId).max(MAX_NODES).optional().describe('The nodes that begin anew, with all that follow them'),
    drawing: z
      .enum(['then', 'now'])
      .default('then')
      .describe('`now`: a result is taken over only where its node and all before it are as they were'),
    accept_unknown: z.boolean().default(false).describe('Repeat calls of which nobody knows what they have done'),
  }),
  headers: waitHeaders.extend(idempotencyHeaders.shape),
  responses: {
    201: envelopeSchema,
    400: z.union([refusedRunSchema, badRequestSchema]),
  },
  answerHeaders: ['Preference-Applied'],
  async handler({ deps, log, caller, params, body, headers, signal }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const asked = { workflowId: params.id, originalRunId: params.run_id, options: body };
    const keyed = toKeyedRequest(caller.userId, headers, asked);
    // The first answer takes precedence, because the original run may have expired since.
    const first = keyed && (await findFirstAnswer(deps, keyed));
    const waiting = { reader: caller, prefer: headers.prefer, signal };
    if (first !== undefined) {
      return waitForResults(deps, answerReRun({ envelope: first, isRepeat: true }), first, waiting);
    }
    await linkRequestToRun(deps, params.run_id);
    const acceptance = await resumeRun(deps, log, {
      workflow,
      runId: params.run_id,
      userId: caller.userId,
      from: body.from ?? [],
      isAsNow: body.drawing === 'now',
      acceptsUnknown: body.accept_unknown,
      keyed,
    });
    return waitForResults(deps, answerReRun(acceptance), acceptance.envelope, waiting);
  },
});

export const resumeRoutes: Route<RunDeps>[] = [resume];
