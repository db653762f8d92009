import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { HistoryRun } from '../../db/runs/history-repository.js';
import { inputFieldsOf } from '../../graph/input.js';
import type { JsonObject } from '../../graph/json.js';
import { RawJson } from '../http/json-text.js';
import { toNodeMap } from './node-map.js';
import { amountSchema } from '../projects/project-view.js';
import { nodeEntrySchema } from './run-envelope.js';
import { drawingSchema } from '../workflows/workflow-view.js';

const timestamp = z.iso.datetime();

export const runSchema = z.object({
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
  workflow_version: z.int().describe('The version of the drawing that it was started with'),
  is_api_run: z.boolean(),
  use_in_marketplace_example: z.boolean(),
  use_as_marketplace_template: z.boolean(),
  cost: amountSchema,
  total_cost: amountSchema.describe('With the runs of its sub-workflows, and theirs'),
  parent_run_id: z.string().nullable().describe('Of the run of a sub-workflow: the run that has started it'),
  parent_node_id: z.string().nullable().describe('The node that has started it'),
  parent_path: z.string().nullable().describe('The iteration of that node; empty outside loops'),
  resumed_from: z.string().nullable().describe('The earlier run whose results it began with (resume)'),
  duration: z.number().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  results_expired_at: timestamp.optional().describe('Since then the contents of the results are gone'),
  temporal_url: z
    .url()
    .optional()
    .describe('The run in the Temporal UI, for operators; only where they have set its address'),
});

/** The form in a list, where the key of a value that is too large is absent. */
export const listedRunSchema = runSchema.extend({
  data: drawingSchema.optional().describe('Absent where it is too large for a list; the single read has it'),
  input_data: z.unknown().optional().describe('Absent where it is too large for a list; the single read has it'),
  input_fields: z.array(z.record(z.string(), z.unknown())).optional().describe('Absent where data is'),
  truncated: z.literal(true).optional().describe('data or input_data is left out'),
});

/** Converts the items of a page. Their runs mostly share one drawing, which may be large, so it is parsed once. */
export function toRuns(runs: HistoryRun[], currencies: Currencies): Record<string, unknown>[] {
  const known = new Map<string, JsonObject[]>();
  return runs.map((run) => {
    const { document } = run;
    if (document === null) return toRun(run, currencies);
    const fields = known.get(document) ?? readInputFields(document);
    known.set(document, fields);
    return toRun(run, currencies, fields);
  });
}

/** The specification's history item. */
export function toRun(run: HistoryRun, currencies: Currencies, inputFields?: JsonObject[]): Record<string, unknown> {
  const { document, input } = run;
  return {
    id: run.id,
    created_at: run.created_at,
    updated_at: run.updated_at,
    run_started_at: run.run_started_at,
    run_finished_at: run.run_finished_at,
    status: run.status,
    result: toNodeMap(run.nodes, run.node_errors),
    ...(document === null
      ? {}
      : { data: new RawJson(document), input_fields: inputFields ?? readInputFields(document) }),
    ...(input === null ? {} : { input_data: new RawJson(input) }),
    workflow_version: run.workflow_version,
    is_api_run: run.is_api_run,
    use_in_marketplace_example: run.use_in_marketplace_example,
    use_as_marketplace_template: run.use_as_marketplace_template,
    cost: toAmount(run.cost_usd, currencies),
    ...toParent(run, currencies),
    resumed_from: run.resumed_from,
    duration: toDurationSeconds(run.run_started_at, run.run_finished_at),
    error: toRunError(run),
    ...(run.results_expired_at === null ? {} : { results_expired_at: run.results_expired_at }),
    ...(document === null || input === null ? { truncated: true } : {}),
  };
}

/** Where the run of a sub-workflow belongs, and what a run has cost with those below it. */
export function toParent(
  run: Pick<HistoryRun, 'total_cost_usd' | 'parent_run_id' | 'parent_node_id' | 'parent_path'>,
  currencies: Currencies,
) {
  const { parent_run_id, parent_node_id, parent_path } = run;
  return { total_cost: toAmount(run.total_cost_usd, currencies), parent_run_id, parent_node_id, parent_path };
}

function readInputFields(document: string): JsonObject[] {
  return inputFieldsOf(JSON.parse(document));
}

export function toRunError(
  run: Pick<HistoryRun, 'error_code' | 'error_message'>,
): { code: string; message: string } | null {
  return run.error_code === null ? null : { code: run.error_code, message: run.error_message ?? '' };
}

export function toDurationSeconds(startedAt: Date | null, finishedAt: Date | null): number | null {
  if (startedAt === null || finishedAt === null) return null;
  return (finishedAt.getTime() - startedAt.getTime()) / 1000;
}
