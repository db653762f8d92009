// Cases of a workflow, and their runs (docs/use/test-runs.md, "Cases").
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { anyObject } from '../../graph/any-object.js';
import { resolveRunFiles } from '../../acceptance/run-files.js';
import { openDrawing } from '../../acceptance/opened-drawing.js';
import { sumOf, toAmount } from '../../config/currencies.js';
import {
  cancelCaseRun,
  findCaseRun,
  listCaseDetails,
  listCaseResults,
  measureCaseDetails,
  type CaseResult,
  type CaseRun,
  type TriedDrawing,
} from '../../db/test-runs/case-runs-repository.js';
import {
  countCases,
  deleteCase,
  findCase,
  insertCase,
  listCases,
  measureCases,
  updateCase,
  type Case,
  type ChosenCases,
} from '../../db/test-runs/cases-repository.js';
import { findInputSecrets } from '../../db/workflows/secret-input-fields.js';
import { findStoredDrawing } from '../../db/workflows/versions-repository.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import { conditionSchema } from '../../graph/condition-schema.js';
import type { SplitDrawing } from '../../graph/drawing-change.js';
import { inputFieldsOf } from '../../graph/input.js';
import type { JsonObject } from '../../graph/json.js';
import { OPERATORS } from '../../graph/operators.js';
import { patternProblem } from '../../graph/pattern.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { PARSED_COPIES } from '../../memory/json-copies.js';
import { amountSchema } from '../projects/project-view.js';
import type { TestDeps } from './deps.js';
import { badRequestSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, invalidFields, orNotFound } from '../http/errors.js';
import { limitAmount } from '../http/limit-amount.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams, MAX_ID, pathId, uuid } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { findNamedDraft, hasDrawing, NO_DRAWING } from '../workflows/find-draft.js';
import { drawingBody, fromDraft } from '../workflows/workflow-body.js';
import { caseFromRun, largeCase, MOST_BYTES_OF_CASE } from './case-from-run.js';
import { createCaseMasker, keepFieldIds, mergeInput, type SecretDrawing } from './case-secrets.js';
import { invalidDrawingSchema, invalidStructure, judgeNodes } from './invalid-drawing.js';
import { refuseManyMocks } from './read-mocks.js';
import { startCases, driveCases } from './run-cases.js';
import { withDrawing } from './start-test.js';

const defineRoute = routesOf<TestDeps>();

const MOST_CASES = 100;
const MOST_EXPECTATIONS = 100;

const name = z.string().trim().min(1).max(200);

const expectation = z
  .object({
    node: z.string().min(1).max(200).optional(),
    output: z.literal(true).optional(),
    path: z.string().max(1000).describe('What would follow `node.` in a variable; of the output, what follows in it'),
    operator: z.enum(OPERATORS),
    right: z.union([z.string().max(100_000), z.number(), z.boolean()]).optional(),
  })
  .superRefine(({ node, output, operator, right }, context) => {
    const issue = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if ((node === undefined) === (output === undefined)) issue('node', 'Name either a node or the output.');
    const parsed = conditionSchema.safeParse({ left: '', operator, right });
    if (!parsed.success) issue('right', parsed.error.issues[0]?.message ?? 'Input should be a valid value');
    // Variables in expectations are never filled in, so they are part of the pattern.
    const problem = parsed.success && operator === 'matches' ? patternProblem(String(right)) : undefined;
    if (problem !== undefined) issue('right', problem);
  });

const fields = {
  name,
  input: anyObject.default({}),
  mocks: anyObject.default({}),
  expect: z.array(expectation).max(MOST_EXPECTATIONS).default([]),
  required: z.boolean().default(false).describe('Whether it must pass before the workflow is published'),
};

const caseSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    input: anyObject.describe('Secrets are ********'),
    mocks: anyObject,
    expect: z.array(expectation),
    required: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Case' });

const caseParams = idParams.extend({ case_id: pathId });
const makes = { audit: { action: 'case.created', target: 'case', makes: 'id' } } as const;
const editor = { access: { to: 'workflow', role: 'editor' } } as const;
const viewer = { access: { to: 'workflow', role: 'viewer' } } as const;

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/cases/',
  summary: 'Lists the cases of a workflow.',
  ...viewer,
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(caseSchema) },
  async handler({ deps, params, query, memory }) {
    const mask = createCaseMasker(deps.secretBox, await findSecretDrawing(deps, params.id));
    const total = await countCases(deps.db, params.id);
    const cases = await readCases(deps, memory, { workflowId: params.id, ...toWindow(query) });
    const views: z.infer<typeof caseSchema>[] = [];
    for (const each of cases) {
      views.push(toView(each, mask(each.content)));
      // Lets other requests proceed, because masking takes long if a case has many secrets.
      await setImmediate();
    }
    return answerPage(query, total, views);
  },
});

const create = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/cases/',
  summary: 'Makes a case: an input and mocks, and what is expected of the run.',
  ...makes,
  readsDrawing: 'parsed',
  ...editor,
  body: z.object(fields),
  responses: { 201: caseSchema, 400: badRequestSchema },
  async handler({ deps, params, body }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const { name: title, required, ...content } = body;
    return { status: 201, body: await make(deps, workflow, { name: title, isRequired: required, content }) };
  },
});

const fromRun = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/cases/from-run/',
  summary:
    'Makes a case of a run: its input, mocks of the nodes with side effects, and its output as what is expected.',
  ...makes,
  readsDrawing: 'parsed',
  ...editor,
  body: z.object({ run_id: uuid, name }),
  responses: { 201: caseSchema, 400: badRequestSchema },
  async handler({ deps, params, body }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const content = await caseFromRun(deps, params.id, body.run_id);
    return { status: 201, body: await make(deps, workflow, { name: body.name, isRequired: false, content }) };
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/cases/:case_id/',
  summary: 'Returns one case of a workflow.',
  ...viewer,
  params: caseParams,
  responses: { 200: caseSchema },
  async handler({ deps, params }) {
    const mask = createCaseMasker(deps.secretBox, await findSecretDrawing(deps, params.id));
    const found = orNotFound(await findCase(deps.db, deps.secretBox, params.id, params.case_id));
    return { status: 200, body: toView(found, mask(found.content)) };
  },
});

const change = defineRoute({
  method: 'PATCH',
  path: '/api/v1/workflows/:id/cases/:case_id/',
  summary: 'Changes a case. A value of the input with `********`, as answers show it, stays as it is.',
  readsDrawing: 'parsed',
  audit: { action: 'case.changed', target: 'case', id: 'case_id' },
  ...editor,
  params: caseParams,
  body: z
    .object({
      name,
      input: anyObject,
      mocks: anyObject,
      expect: z.array(expectation).max(MOST_EXPECTATIONS),
      required: z.boolean(),
    })
    .partial(),
  responses: { 200: caseSchema, 400: badRequestSchema },
  async handler({ deps, params, body }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const found = orNotFound(await findCase(deps.db, deps.secretBox, params.id, params.case_id));
    const { content } = found;
    const mask = createCaseMasker(deps.secretBox, workflow);
    const { document } = workflow;
    const input = body.input && mergeInput(content, body.input, { shown: mask(content), document });
    const changed = {
      ...found,
      name: body.name ?? found.name,
      isRequired: body.required ?? found.isRequired,
      content: {
        ...content,
        ...input,
        mocks: body.mocks ?? content.mocks,
        expect: body.expect ?? content.expect,
      },
    };
    // Without a new input, the stored one is not checked again, because one of its files may be gone.
    if (input !== undefined) changed.content.input = await fillFiles(deps, workflow, changed.content.input);
    refuseLarge(changed.content);
    await updateCase(deps.db, deps.secretBox, changed);
    const stored = orNotFound(await findCase(deps.db, deps.secretBox, params.id, params.case_id));
    return { status: 200, body: toView(stored, mask(stored.content)) };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/v1/workflows/:id/cases/:case_id/',
  summary: 'Removes a case.',
  audit: { action: 'case.deleted', target: 'case', id: 'case_id' },
  ...editor,
  params: caseParams,
  responses: { 204: nothing },
  async handler({ deps, params }) {
    orNotFound((await deleteCase(deps.db, params.id, params.case_id)) || undefined);
    return { status: 204 };
  },
});

const run = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/cases/run/',
  summary: 'Runs cases: each is a test run of the whole drawing, which waits for nobody.',
  readsDrawing: 'parsed',
  readsDraft: 'parsed',
  resolvesActions: 'drawing',
  audit: { action: 'run.started', target: 'workflow', id: 'id', records: 'refusals' },
  ...editor,
  body: z
    .object({
      case_ids: z.array(z.int().min(0).max(MAX_ID)).max(MOST_CASES).optional().describe('All cases by default'),
      version: z.int().min(1).max(MAX_ID).optional(),
      drawing: drawingBody.optional(),
      from_draft: fromDraft,
      max_cost: limitAmount
        .optional()
        .describe('A call that could cost more is not made: its node fails, and no further case begins'),
    })
    .refine(hasDrawing, NO_DRAWING),
  responses: { 201: z.object({ id: z.string() }), 400: z.union([invalidDrawingSchema, badRequestSchema]) },
  async handler({ deps, caller, params, body, memory }) {
    const workflow = orNotFound(await findDrawing(deps.db, params.id));
    const cases = await chosen(deps, memory, { workflowId: params.id, ids: body.case_ids });
    const draft = await findNamedDraft(deps, workflow, caller, body);
    const tried = await toTried(deps, workflow, { version: body.version, drawing: body.drawing, draft, cases });
    const maxCostUsd = body.max_cost ?? null;
    // A background loop starts the runs (`startRunningCases`). A request with a large drawing blocks the queue for
    // large work, so it must not wait for the start of runs.
    const id = await startCases(deps, { workflow, userId: caller.userId, tried, cases, maxCostUsd });
    return { status: 201, body: { id } };
  },
});

const caseRunSchema = z
  .object({
    id: z.string(),
    status: z.enum(['in progress', 'passed', 'failed']),
    passed: z.int(),
    failed: z.int(),
    cost: amountSchema,
    created_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
    cases: z.array(
      z.object({
        case_id: z.int(),
        run_id: z.string().nullable(),
        status: z.enum(['in progress', 'passed', 'failed', 'error']),
        failures: z.array(z.object({ expectation, actual: z.unknown() })),
        error: z.object({ code: z.string(), message: z.string() }).optional(),
      }),
    ),
  })
  .meta({ id: 'CaseRun' });

const caseRunParams = idParams.extend({ case_run_id: uuid });

const readRun = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/case-runs/:case_run_id/',
  summary: 'Returns how cases ended that were run together.',
  ...viewer,
  params: caseRunParams,
  responses: { 200: caseRunSchema },
  async handler({ deps, params, memory }) {
    const found = orNotFound(await findCaseRun(deps.db, params.id, params.case_run_id));
    return { status: 200, body: await viewRun(deps, memory, found) };
  },
});

const cancelRun = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/:id/case-runs/:case_run_id/cancel/',
  summary: 'Stops cases that were started together.',
  audit: { action: 'case_run.cancelled', target: 'case_run', id: 'case_run_id', commits: 'handler' },
  ...editor,
  params: caseRunParams,
  responses: { 200: caseRunSchema },
  async handler({ deps, log, params, memory, audit, signal }) {
    const found = orNotFound(await findCaseRun(deps.db, params.id, params.case_run_id));
    await audit.change((transaction) => cancelCaseRun(transaction, found.id), {
      keyOf: (isCancelled) => (isCancelled ? { id: found.id } : undefined),
    });
    await driveCases(deps, log, { ...found, isCancelled: true }, signal);
    return {
      status: 200,
      body: await viewRun(deps, memory, orNotFound(await findCaseRun(deps.db, params.id, found.id))),
    };
  },
});

export const caseRoutes: Route<TestDeps>[] = [list, create, fromRun, read, change, remove, run, readRun, cancelRun];

async function make(deps: TestDeps, workflow: StoredDrawing, made: Pick<Case, 'name' | 'isRequired' | 'content'>) {
  const content = keepFieldIds(made.content, workflow.document);
  content.input = await fillFiles(deps, workflow, content.input);
  refuseLarge(content);
  const id = await insertCase(deps.db, deps.secretBox, { ...made, content, workflowId: workflow.id }, MOST_CASES);
  if (id === undefined) {
    throw new ApiError(400, 'too_many_cases', `A workflow has at most ${MOST_CASES} cases.`);
  }
  const stored = orNotFound(await findCase(deps.db, deps.secretBox, workflow.id, id));
  return toView(stored, createCaseMasker(deps.secretBox, workflow)(stored.content));
}

/**
 * Replaces file ids by file values, so that the case refers to the files. Throws 400 if a field for files has a value
 * other than files of the project.
 */
async function fillFiles({ db }: TestDeps, workflow: StoredDrawing, input: JsonObject): Promise<JsonObject> {
  const taking = { projectId: workflow.project_id, fields: inputFieldsOf(workflow.document), input };
  const { input: filled, inputErrors } = await resolveRunFiles(db, taking);
  if (inputErrors.length > 0) {
    throw invalidFields({
      input: inputErrors.flatMap((error) => Object.entries(error).map(([field, sentence]) => `${field}: ${sentence}`)),
    });
  }
  return filled as JsonObject;
}

function refuseLarge(content: Case['content']): void {
  refuseManyMocks(Object.keys(content.mocks).length);
  if (Buffer.byteLength(JSON.stringify(content)) > MOST_BYTES_OF_CASE) throw largeCase();
}

function toView(
  { id, name: title, isRequired, content, createdAt, updatedAt }: Case,
  shownInput: JsonObject,
): z.infer<typeof caseSchema> {
  return {
    id,
    name: title,
    input: shownInput,
    mocks: content.mocks,
    expect: content.expect,
    required: isRequired,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** Throws 400 for an id that is not a case of the workflow. */
export async function chosen(
  deps: TestDeps,
  memory: ByteLease,
  which: Pick<ChosenCases, 'workflowId' | 'ids' | 'isRequired'>,
): Promise<Case[]> {
  const cases = await readCases(deps, memory, { ...which, limit: MOST_CASES });
  const known = new Set(cases.map(({ id }) => id));
  const unknown = which.ids?.find((id) => !known.has(id));
  if (unknown !== undefined) throw invalidFields({ case_ids: [`The workflow has no case ${unknown}.`] });
  return cases;
}

/** Leases memory for the cases before reading them. */
async function readCases({ db, secretBox }: TestDeps, memory: ByteLease, which: ChosenCases): Promise<Case[]> {
  await memory.resize(memory.bytes + PARSED_COPIES * (await measureCases(db, which)));
  return listCases(db, secretBox, which);
}

/** Returns the secrets and secret fields that answers mask, without reading the whole drawing, which may be large. */
async function findSecretDrawing({ db }: TestDeps, workflowId: number): Promise<SecretDrawing> {
  return orNotFound((await findInputSecrets(db, [workflowId])).get(workflowId));
}

interface Asked {
  version: number | undefined;
  drawing: JsonObject | undefined;
  draft: SplitDrawing | undefined;
  cases: readonly Case[];
}

/** Throws 400 for a version that does not exist, or a drawing that cannot run. */
async function toTried(
  deps: TestDeps,
  workflow: StoredDrawing,
  { version, drawing: sentDrawing, draft, cases }: Asked,
): Promise<TriedDrawing> {
  if (version !== undefined && sentDrawing !== undefined) {
    throw invalidFields({ version: ['Name either a version or a drawing.'] });
  }
  const stored =
    sentDrawing === undefined
      ? await atVersion(deps, workflow, version)
      : await withDrawing(deps, workflow, sentDrawing, draft);
  const { drawing, secrets } = openDrawing(deps.secretBox, stored);
  const compiled = compilePlan(drawing);
  if (!compiled.ok) throw invalidStructure(compiled.errors);
  if (sentDrawing === undefined) return { drawing, version: version ?? workflow.version };
  const { document, plan } = compiled;
  const isExecuted = (id: string): boolean => cases.some(({ content }) => !Object.hasOwn(content.mocks, id));
  const executed = new Set(plan.ids.filter(isExecuted));
  await judgeNodes(deps, { projectId: workflow.project_id, drawing, secrets, document, plan, executed });
  // The drawing is stored with its secrets and the facts of its actions filled in: when the cases start, the draft may
  // be gone, and the workflow and its services may have changed.
  return { drawing, version: null };
}

async function atVersion(deps: TestDeps, workflow: StoredDrawing, version: number | undefined): Promise<StoredDrawing> {
  if (version === undefined || version === workflow.version) return workflow;
  const found = await findStoredDrawing(deps.db, workflow.id, version);
  if (found === undefined) throw invalidFields({ version: ['The workflow has no such version.'] });
  return { ...workflow, ...found, version };
}

async function viewRun(deps: TestDeps, memory: ByteLease, found: CaseRun): Promise<z.infer<typeof caseRunSchema>> {
  const { db, secretBox } = deps;
  await memory.resize(memory.bytes + PARSED_COPIES * (await measureCaseDetails(db, found.id)));
  // In this order, the details of each case that has ended are complete.
  const results = await listCaseResults(db, found.id);
  const details = await listCaseDetails(db, secretBox, found.id);
  const count = (...statuses: CaseResult['status'][]): number =>
    results.filter(({ status }) => statuses.includes(status)).length;
  const cost = sumOf(results.map(({ costUsd }) => costUsd));
  return {
    id: found.id,
    status: found.status,
    passed: count('passed'),
    failed: count('failed', 'error'),
    cost: toAmount(cost.toFixed(), deps.currencies),
    created_at: found.createdAt.toISOString(),
    finished_at: found.finishedAt?.toISOString() ?? null,
    cases: results.map(({ caseId, runId, status }) => {
      const { failures = [], error } = (status !== 'in progress' && details.get(caseId)) || {};
      return { case_id: caseId, run_id: runId, status, failures, ...(error && { error }) };
    }),
  };
}
