import { z } from 'zod';
import { runPurpose } from '../http/query-values.js';
import { toAmount, type Currencies } from '../../config/currencies.js';
import { readDrawing, readInputPieces, type HistoryRun } from '../../db/runs/history-repository.js';
import type { ListedRun } from '../../db/runs/runs-list-repository.js';
import { WAITING_FOR } from '../../db/runs/waiting-runs.js';
import { PIECE_BYTES } from '../../db/core/text-pieces.js';
import { answerNodesOf } from '../../graph/answer-node.js';
import { compilePlan } from '../../graph/compile-plan.js';
import { inputFieldsOf } from '../../graph/input.js';
import type { JsonObject } from '../../graph/json.js';
import type { RunDeps } from './deps.js';
import type { InTransaction } from '../http/route.js';
import { lazyText, lazyValue, RawJson, type LazyJson } from '../http/json-text.js';
import { readApartFrom } from './apart-results.js';
import { toNodeMap } from './node-map.js';
import { amountSchema } from '../projects/project-view.js';
import { nodeEntrySchema } from '../envelope/run-envelope.js';
import { drawingSchema } from '../workflows/workflow-view.js';
import { PARSED_COPIES, TEXT_COPIES } from '../../memory/json-copies.js';

const timestamp = z.iso.datetime();

export const runSchema = z
  .object({
    id: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    run_started_at: timestamp.nullable(),
    run_finished_at: timestamp.nullable(),
    status: z.enum(['In Progress', 'Succeeded', 'Cancelled', 'Error', 'Draft']),
    result: z.record(z.string(), nodeEntrySchema),
    data: drawingSchema,
    input_data: z.unknown(),
    input_fields: z.array(z.record(z.string(), z.unknown())),
    answer_nodes: z
      .array(z.string())
      .optional()
      .describe('The nodes of which one writes the answer of a chat (`settings.answer_node`); not in lists'),
    workflow_version: z
      .int()
      .nullable()
      .describe(
        'The version of the drawing that it was started with; null for the test of a drawing that is not stored',
      ),
    purpose: runPurpose,
    is_api_run: z.boolean(),
    use_in_marketplace_example: z.boolean(),
    use_as_marketplace_template: z.boolean(),
    cost: amountSchema,
    total_cost: amountSchema.describe('With the runs of its sub-workflows, and theirs'),
    parent_run_id: z.string().nullable().describe('Of the run of a sub-workflow: the run that has started it'),
    parent_node_id: z.string().nullable().describe('The node that has started it'),
    parent_path: z.string().nullable().describe('The iteration of that node; empty outside loops'),
    resumed_from: z.string().nullable().describe('The earlier run whose results it began with (resume)'),
    waiting_for: z
      .enum(WAITING_FOR)
      .nullable()
      .describe(
        'What an open run waits for while nothing of it is in flight: the first of these. The pause between two attempts ' +
          'is `time`. `worker`: no worker serves the pool of its nodes now',
      ),
    duration: z.number().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    results_expired_at: timestamp.optional().describe('Since then the contents of the results are gone'),
    temporal_url: z
      .url()
      .optional()
      .describe('The run in the Temporal UI, for operators; only where they have set its address'),
  })
  .meta({ id: 'Run' });

/** A run as listed: a drawing or input that is too large is absent, and results are cut. */
export const listedRunSchema = runSchema.extend({
  data: drawingSchema.optional().describe('Absent where it is too large for a list; the single read has it'),
  input_data: z.unknown().optional().describe('Absent where it is too large for a list; the single read has it'),
  input_fields: z.array(z.record(z.string(), z.unknown())).optional().describe('Absent where data is'),
  truncated: z.literal(true).optional().describe('data or input_data is left out'),
});

/** The runs of a page mostly share one drawing, which may be large, so each drawing is parsed once. */
export function toListedRuns({ db, currencies }: RunViewDeps, runs: HistoryRun[]): Record<string, unknown>[] {
  const known = new Map<string, JsonObject[]>();
  return runs.map((run) => {
    const { document } = run;
    if (document !== null && !known.has(document)) known.set(document, readInputFields(document));
    const result = toNodeMap(run.nodes, run.node_errors, { readApart: readApartFrom(db, placeOf(run), run.nodes) });
    return toRun(run, currencies, { result, ...listedParts(run, known.get(document ?? '') ?? []) });
  });
}

/**
 * Builds one item of a large page, whose runs are read one by one. `contentLimit`: contents of results are cut after
 * this many characters.
 */
export function toListedRun(
  { db, currencies }: RunViewDeps,
  run: HistoryRun,
  contentLimit: number,
): Record<string, unknown> {
  const readApart = readApartFrom(db, placeOf(run), run.nodes, contentLimit);
  const fields = run.document === null ? [] : readInputFields(run.document);
  return toRun(run, currencies, {
    result: toNodeMap(run.nodes, run.node_errors, { readApart }),
    ...listedParts(run, fields),
  });
}

function listedParts({ document, input }: HistoryRun, inputFields: JsonObject[]): Omit<RunParts, 'result'> {
  return {
    ...(document !== null && { data: new RawJson(document), input_fields: inputFields }),
    ...(input !== null && { input_data: new RawJson(input) }),
    ...((document === null || input === null) && { truncated: true }),
  };
}

/** The complete history item. Its large parts are read while the answer is sent. */
export function toWholeRun({ answerDb, currencies, ...deps }: RunViewDeps, run: HistoryRun): Record<string, unknown> {
  const db = answerDb ?? deps.db;
  const { document, documentBytes, input } = run;
  const readLater = (copies: number, make: (text: string) => unknown) =>
    lazyValue(copies * documentBytes, async () => make(await readDrawing(db, run)));
  const drawing = document === null ? undefined : parseDrawing(document);
  const ofDrawing = (make: (parsed: JsonObject) => unknown) =>
    drawing === undefined ? readLater(PARSED_COPIES, (text) => make(parseDrawing(text))) : make(drawing);
  return toRun(run, currencies, {
    result: toNodeMap(run.nodes, run.node_errors, { readApart: readApartFrom(db, placeOf(run), run.nodes) }),
    data: document === null ? readLater(TEXT_COPIES, (text) => new RawJson(text)) : new RawJson(document),
    input_fields: ofDrawing(inputFieldsOf),
    input_data: input === null ? lazyText(() => readInputPieces(db, run.id), PIECE_BYTES) : new RawJson(input),
    answer_nodes: ofDrawing(answerNodesIn),
  });
}

export type RunViewDeps = Pick<RunDeps, 'db' | 'currencies'> & Partial<Pick<InTransaction<RunDeps>, 'answerDb'>>;

interface RunParts {
  result: unknown;
  data?: RawJson | LazyJson;
  input_fields?: unknown;
  input_data?: RawJson | LazyJson;
  answer_nodes?: unknown;
  truncated?: true;
}

function placeOf({ id }: HistoryRun): { runId: string; path: string } {
  return { runId: id, path: '' };
}

/** `parts`: the fields that only some endpoints answer. */
export function toRun(run: HistoryRun | ListedRun, currencies: Currencies, parts: object): Record<string, unknown> {
  const { run_started_at: startedAt, run_finished_at: finishedAt } = run;
  return {
    id: run.id,
    created_at: run.created_at,
    updated_at: run.updated_at,
    run_started_at: startedAt,
    run_finished_at: finishedAt,
    status: run.status,
    ...parts,
    workflow_version: run.workflow_version,
    purpose: run.purpose,
    is_api_run: run.is_api_run,
    use_in_marketplace_example: run.use_in_marketplace_example,
    use_as_marketplace_template: run.use_as_marketplace_template,
    cost: toAmount(run.cost_usd, currencies),
    total_cost: toAmount(run.total_cost_usd, currencies),
    parent_run_id: run.parent_run_id,
    parent_node_id: run.parent_node_id,
    parent_path: run.parent_path,
    resumed_from: run.resumed_from,
    waiting_for: run.waiting_for,
    duration: startedAt && finishedAt && (finishedAt.getTime() - startedAt.getTime()) / 1000,
    error: run.error_code === null ? null : { code: run.error_code, message: run.error_message ?? '' },
    ...(run.results_expired_at === null ? {} : { results_expired_at: run.results_expired_at }),
  };
}

function readInputFields(document: string): JsonObject[] {
  return inputFieldsOf(JSON.parse(document));
}

function parseDrawing(document: string): JsonObject {
  return JSON.parse(document) as JsonObject;
}

/** A drawing could be compiled when its run was stored, but an earlier build may have allowed what this one refuses. */
function answerNodesIn(drawing: JsonObject): string[] {
  const compiled = compilePlan(drawing);
  return compiled.ok ? [...answerNodesOf(drawing, compiled.plan)] : [];
}
