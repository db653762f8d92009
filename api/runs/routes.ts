// Specification, "Running workflows": run, re-run and poll.
import { z } from 'zod';
import { readRunForPoll } from '../../db/runs/poll-repository.js';
import { findDrawing } from '../../db/workflows/workflows-repository.js';
import { acceptRun, type Acceptance } from './accept-run.js';
import { badRequestSchema, detailSchema, keyErrors } from '../http/answer-schemas.js';
import { answerPoll } from './answer-poll.js';
import type { AppDeps } from '../deps.js';
import { ApiError, notFound } from '../http/errors.js';
import { findFirstAnswer, idempotencyHeaders, toKeyedRequest } from './idempotency.js';
import { idParams, runParams, uuid } from '../http/path-ids.js';
import { toReRunRequest } from './re-run.js';
import { runInputBody } from './read-run-input.js';
import { defineRoute, type Route, type RouteResult } from '../http/route.js';
import { envelopeSchema, refusedRunSchema, toRefusal, type Envelope } from './run-envelope.js';
import { linkRequestToRun } from './run-traces.js';

const start = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/run/',
  summary: 'Starts a run; the body is the input, with a session token `{input_data}`. The outcome is the inner status.',
  auth: 'key',
  access: { to: 'workflow', role: 'editor' },
  params: idParams,
  bodyFormat: 'run-input',
  body: runInputBody,
  headers: idempotencyHeaders,
  responses: { 200: envelopeSchema, 400: badRequestSchema, 404: detailSchema, ...keyErrors },
  async handler({ deps, log, caller, params, body: input, headers }) {
    const workflow = await findDrawing(deps.db, params.id);
    if (workflow === undefined) throw notFound();
    const keyed = toKeyedRequest(caller.userId, headers, { workflowId: params.id, input });
    const request = { workflow, userId: caller.userId, input: input ?? {}, keyed };
    const { envelope, isRepeat } = await acceptRun(deps, log, request);
    countAcceptance(deps, envelope, isRepeat);
    return { status: 200, body: envelope, headers: repeatHeaders(isRepeat) };
  },
});

const reRun = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/history/:run_id/re-run/',
  summary: 'Runs the workflow as it is now with the input of an earlier run, or with the body as in run.',
  auth: 'key',
  access: { to: 'workflow', role: 'editor' },
  params: runParams,
  bodyFormat: 'run-input',
  body: runInputBody,
  headers: idempotencyHeaders,
  responses: { 201: envelopeSchema, 400: refusedRunSchema, 404: detailSchema, ...keyErrors },
  async handler({ deps, log, caller, params, body: input, headers }) {
    const workflow = await findDrawing(deps.db, params.id);
    if (workflow === undefined) throw notFound();
    const originalRunId = params.run_id;
    const keyed = toKeyedRequest(caller.userId, headers, { workflowId: params.id, originalRunId, input });
    // The first answer takes precedence, because the original run may have expired since.
    const first = keyed && (await findFirstAnswer(deps, keyed));
    if (first !== undefined) return answerReRun({ envelope: first, isRepeat: true });
    const reused = await toReRunRequest(deps, { workflow, originalRunId, input });
    await linkRequestToRun(deps, originalRunId);
    const acceptance = await acceptRun(deps, log, { ...reused, workflow, userId: caller.userId, keyed });
    countAcceptance(deps, acceptance.envelope, acceptance.isRepeat);
    return answerReRun(acceptance);
  },
});

const poll = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/workflow_result/',
  summary: 'The state of a run and the results of its nodes so far.',
  auth: 'key',
  query: z.object({ id: uuid }),
  pollsRun: 'id',
  responses: { 200: envelopeSchema, 400: badRequestSchema, ...keyErrors },
  async handler({ deps, caller, polled, query }) {
    const asked = { runId: query.id, userId: caller.userId, projectId: caller.projectId };
    // The run may have been read with the key, except results that are too large for that.
    const isRead = polled?.runId === query.id && polled.run?.nodes !== null;
    const run = isRead ? polled.run : await readRunForPoll(deps.db, asked, deps.config.resultRetentionDays);
    if (run === undefined) return answerNotFound(query.id);
    if (!run.isVisible) throw new ApiError(400, 'invalid', 'The run does not exist or you have no access to it.');
    if (run.isExpired) return answerNotFound(query.id);
    return answerPoll(deps, run);
  },
});

export const runRoutes: Route[] = [start, reRun, poll];

function countAcceptance({ metrics }: AppDeps, { status }: Envelope, isRepeat: boolean): void {
  const outcome = isRepeat ? 'repeated' : ({ 201: 'accepted', 422: 'invalid_nodes' }[status] ?? 'invalid_workflow');
  metrics.runsAccepted.inc({ outcome });
}

function answerReRun({ envelope, isRepeat }: Acceptance): RouteResult {
  const headers = repeatHeaders(isRepeat);
  if (envelope.status === 201) return { status: 201, body: envelope, headers };
  return { status: 400, body: toRefusal(envelope), headers };
}

function repeatHeaders(isRepeat: boolean): Record<string, string> {
  return isRepeat ? { 'Idempotent-Replayed': 'true' } : {};
}

/** Answers the specification's 200 with `data` null for an unknown run and for expired results. */
function answerNotFound(runId: string): RouteResult {
  return { status: 200, body: { status: 200, data: { id: runId, status: 'not found', data: null } } };
}
