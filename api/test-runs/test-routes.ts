// Tests a node while drawing, and estimates such a test (docs/use/test-runs.md).
import { z } from 'zod';
import { findDrawing } from '../../db/workflows/workflows-repository.js';
import { amountSchema } from '../projects/project-view.js';
import { anyObject } from '../../graph/any-object.js';
import { toAmount } from '../../config/currencies.js';
import { badRequestSchema } from '../http/answer-schemas.js';
import { waitHeaders } from '../http/conditional.js';
import { orNotFound } from '../http/errors.js';
import type { InTurn } from '../http/heavy-work.js';
import { limitAmount } from '../http/limit-amount.js';
import { iterationPath, nodeId } from '../http/path-ids.js';
import type { TestDeps } from './deps.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { findFirstAnswer, idempotencyHeaders, repeatHeaders, toKeyedRequest } from '../runs/idempotency.js';
import { envelopeSchema, type Envelope } from '../envelope/run-envelope.js';
import { waitForResults } from '../runs/wait-for-results.js';
import { findNamedDraft, hasDrawing, NO_DRAWING } from '../workflows/find-draft.js';
import { drawingBody, fromDraft } from '../workflows/workflow-body.js';
import { estimateTest } from './estimate.js';
import { invalidDrawingSchema } from './invalid-drawing.js';
import { openTest, ResultsMissing, startTest } from './start-test.js';

const defineRoute = routesOf<TestDeps>();

const tried = {
  mode: z
    .enum(['node', 'up_to', 'from'])
    .describe('`node`: that node alone. `up_to`: what it needs, and itself. `from`: itself, and what follows'),
  node: nodeId,
  path: iterationPath.optional().describe('The iteration in which a node of a body is tried; the first one by default'),
  input: anyObject.optional().describe('Without it the trigger is taken like any other node'),
  drawing: drawingBody.optional().describe('A drawing that is not stored; `********` in it is the stored value'),
  from_draft: fromDraft,
};

const missingSchema = z.object({
  detail: z.string(),
  code: z.literal('results_missing'),
  missing: z.array(z.string()).describe('Nodes that are read, and of which there is no result'),
});

const test = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/test/',
  summary: 'Starts a test run: a part of the drawing is executed, and the results of other nodes are taken.',
  description:
    'Results are taken from `mocks`, then from pins, then from the newest run that has the node, and everything before it, ' +
    'as it is now (not with `up_to`). Their entries have `reused` and `source`. A mock is `{content, ...}`, ' +
    '`{error: {code, message}}`, or `{action, values}` of a human task; its key is the id of a node, or `NODE@PATH` for one ' +
    'iteration. A test costs and is limited like any run, and lists leave it out unless they are asked with `purpose=test`.',
  readsDrawing: 'parsed',
  readsDraft: 'parsed',
  resolvesActions: 'drawing',
  audit: { action: 'run.started', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  body: z
    .object({
      ...tried,
      mocks: anyObject.default({}).describe('By node: what it puts out in place of being executed; at most 1,000'),
      use_pins: z.boolean().default(true),
      skip_waits: z
        .boolean()
        .default(false)
        .describe('Whether waits for a time, and delays between attempts, are over at once'),
      max_cost: limitAmount
        .optional()
        .describe('The most that the test may cost. A model call beyond it is not made: `budget_exceeded`'),
    })
    .refine(hasDrawing, NO_DRAWING),
  headers: waitHeaders.extend(idempotencyHeaders.shape),
  responses: {
    201: envelopeSchema,
    400: z.union([invalidDrawingSchema, missingSchema, badRequestSchema]),
    422: envelopeSchema,
  },
  answerHeaders: ['Preference-Applied'],
  async handler({ deps, log, caller, params, body, headers, signal }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const keyed = toKeyedRequest(caller.userId, headers, { workflowId: params.id, options: { test: body } });
    const waiting = { reader: caller, prefer: headers.prefer, signal };
    // The first answer takes precedence, because results may have expired since.
    const first = keyed && (await findFirstAnswer(deps, keyed));
    if (first !== undefined) return waitForResults(deps, answerTest(first, true), first, waiting);
    try {
      const { envelope, isRepeat } = await startTest(deps, log, {
        workflow,
        userId: caller.userId,
        mode: body.mode,
        nodeId: body.node,
        path: body.path,
        input: body.input,
        drawing: body.drawing,
        draft: await findNamedDraft(deps, workflow, caller, body),
        mocks: body.mocks,
        usesPins: body.use_pins,
        skipsWaits: body.skip_waits,
        maxCostUsd: body.max_cost,
        askedBy: caller.assistant?.runId,
        keyed,
      });
      return waitForResults(deps, answerTest(envelope, isRepeat), envelope, waiting);
    } catch (error) {
      if (error instanceof ResultsMissing) return answerMissing(error);
      throw error;
    }
  },
});

const estimate = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/estimate/',
  isRead: true,
  summary: 'Says what a test would execute, and the most that it would reserve.',
  description:
    'Rendered with the input, its defaults, and what the test would take. Pins count, mocks do not. Variables without a ' +
    'value count as empty.',
  readsDrawing: 'parsed',
  readsDraft: 'parsed',
  resolvesActions: 'drawing',
  audit: { action: 'workflow.estimated', target: 'workflow', id: 'id', records: 'refusals' },
  access: { to: 'workflow', role: 'editor' },
  body: z.object(tried).refine(hasDrawing, NO_DRAWING),
  responses: {
    200: z.object({
      calls: z.array(z.object({ node_id: z.string(), kind: z.string(), has_side_effects: z.boolean() })),
      reserved: amountSchema.nullable().describe('Null where no bound is known'),
    }),
    400: z.union([invalidDrawingSchema, badRequestSchema]),
  },
  async handler({ deps, tenant, caller, access, params, body, memory, signal }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const { mode, node, path, input: sentInput, drawing } = body;
    const draft = await findNamedDraft(deps, workflow, caller, body);
    const asked = { mode, nodeId: node, path, input: sentInput, drawing, draft, mocks: {}, usesPins: true };
    const opened = await openTest(deps, { workflow, ...asked });
    const { userId } = caller;
    const asker = { tenant, projectId: access.projectId, signal };
    const inTurn: InTurn = (sizeBytes, work) => deps.heavyWork.run(asker, sizeBytes, work);
    const reading = { userId, input: sentInput, memory, inTurn, signal };
    const { calls, reserved } = await estimateTest(deps, opened, reading);
    const shown = calls.map(({ nodeId: id, kind, hasSideEffects }) => {
      return { node_id: id, kind, has_side_effects: hasSideEffects };
    });
    return {
      status: 200,
      body: { calls: shown, reserved: reserved === null ? null : toAmount(reserved, deps.currencies) },
    };
  },
});

export const testRoutes: Route<TestDeps>[] = [test, estimate];

function answerTest(envelope: Envelope, isRepeat: boolean): RouteResult {
  return { status: envelope.status, body: envelope, headers: repeatHeaders(isRepeat) };
}

function answerMissing({ nodeIds }: ResultsMissing): RouteResult {
  const nodes = nodeIds.length === 1 ? '1 node has' : `${nodeIds.length} nodes have`;
  const detail = `The test reads results that do not exist: ${nodes} none.`;
  return { status: 400, body: { detail, code: 'results_missing', missing: nodeIds } };
}
