// Run, re-run and poll (docs/use/api.md, "Start a run").
import { z } from 'zod';
import { acceptRun, type Acceptance } from './accept-run.js';
import { nothing } from '../http/answer-schemas.js';
import { orNotFound } from '../http/errors.js';
import { findFirstAnswer, idempotencyHeaders, repeatHeaders, toKeyedRequest } from './idempotency.js';
import { conditionalHeaders, waitHeaders } from '../http/conditional.js';
import { runParams, uuid } from '../http/path-ids.js';
import { pollRun } from './poll-run.js';
import { toReRunRequest } from './re-run.js';
import { runInputBody } from './read-run-input.js';
import type { RunDeps } from './deps.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { envelopeSchema, refusedRunSchema, toRefusal } from '../envelope/run-envelope.js';
import { keepIfAccepted, toUploadedInput } from './uploaded-input.js';
import { waitForResults } from './wait-for-results.js';
import { linkRequestToRun } from './run-traces.js';

const defineRoute = routesOf<RunDeps>();

const start = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/run/',
  summary: 'Starts a run; the body is the input, with a session token `{input_data}`. The outcome is the inner status.',
  readsDrawing: 'parsed',
  keyScope: 'run',
  audit: { action: 'run.started', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  bodyFormat: 'run-input',
  body: runInputBody,
  headers: waitHeaders.extend(idempotencyHeaders.shape),
  responses: { 200: envelopeSchema },
  answerHeaders: ['Preference-Applied'],
  async handler({ deps, log, caller, params, body, headers, signal }) {
    const { envelope, isRepeat } = await keepIfAccepted(deps, body, async () => {
      const workflow = orNotFound(await deps.drawings.find(params.id));
      const { input, uploaded, options } = toUploadedInput(workflow.document, body);
      // The ids of uploaded files differ with each request, so `options` identifies the files by their hashes.
      const keyed = toKeyedRequest(caller.userId, headers, { workflowId: params.id, input: body.input, options });
      return acceptRun(deps, log, { workflow, userId: caller.userId, input: input ?? {}, uploaded, keyed });
    });
    const started = { status: 200, body: envelope, headers: repeatHeaders(isRepeat) };
    return waitForResults(deps, started, envelope, { reader: caller, prefer: headers.prefer, signal });
  },
});

const reRun = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/history/:run_id/re-run/',
  summary: 'Runs the workflow as it is now with the input of an earlier run, or with the body as in run.',
  readsDrawing: 'parsed',
  keyScope: 'run',
  audit: { action: 'run.started', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  params: runParams,
  bodyFormat: 'run-input',
  body: runInputBody,
  headers: waitHeaders.extend(idempotencyHeaders.shape),
  responses: { 201: envelopeSchema, 400: refusedRunSchema },
  answerHeaders: ['Preference-Applied'],
  async handler({ deps, log, caller, params, body, headers, signal }) {
    const acceptance = await keepIfAccepted(deps, body, async () => {
      const workflow = orNotFound(await deps.drawings.find(params.id));
      const originalRunId = params.run_id;
      const { input, uploaded, options } = toUploadedInput(workflow.document, body);
      const asked = { workflowId: params.id, originalRunId, input: body.input, options };
      const keyed = toKeyedRequest(caller.userId, headers, asked);
      // The first answer takes precedence, because the original run may have expired since.
      const first = keyed && (await findFirstAnswer(deps, keyed));
      if (first !== undefined) return { envelope: first, isRepeat: true };
      const reused = await toReRunRequest(deps, { workflow, originalRunId, input });
      await linkRequestToRun(deps, originalRunId);
      return acceptRun(deps, log, { ...reused, workflow, userId: caller.userId, uploaded, keyed });
    });
    const waiting = { reader: caller, prefer: headers.prefer, signal };
    return waitForResults(deps, answerReRun(acceptance), acceptance.envelope, waiting);
  },
});

const poll = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/workflow_result/',
  summary: 'Returns the state of a run and the results of its nodes so far.',
  description:
    'With `If-None-Match` and the `ETag` of an earlier answer, 304 while nothing has changed, which does not count against ' +
    'the rate limit. With `Prefer: wait=N` (1 to 55 seconds) the answer comes as soon as the run has ended, or, with a ' +
    'current `If-None-Match`, as soon as anything has changed; after N seconds as without it.',
  keyScope: 'run',
  query: z.object({ id: uuid }),
  headers: waitHeaders.extend(conditionalHeaders.shape),
  countsNo304: true,
  responses: { 200: envelopeSchema, 304: nothing },
  answerHeaders: ['ETag', 'Preference-Applied'],
  handler: pollRun,
});

export const runRoutes: Route<RunDeps>[] = [start, reRun, poll];

export function answerReRun({ envelope, isRepeat }: Acceptance): RouteResult {
  const headers = repeatHeaders(isRepeat);
  if (envelope.status === 201) return { status: 201, body: envelope, headers };
  return { status: 400, body: toRefusal(envelope), headers };
}
