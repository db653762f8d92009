import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { CatalogWorkflow } from '../../db/workflows/catalog-repository.js';
import { amountSchema } from '../projects/project-view.js';
import { listedWorkflowSchema, toWorkflow, workflowSchema } from './workflow-view.js';

const figures = {
  is_bookmarked: z.boolean(),
  last_run_at: z.iso.datetime().nullable(),
  last_run_cost: amountSchema.nullable().describe('Null when the workflow has never run.'),
  average_run_duration: z.number().nullable().describe('Seconds; null when no run has finished.'),
  total_cost: amountSchema,
};

export const catalogWorkflowSchema = workflowSchema.extend(figures);
export const listedCatalogWorkflowSchema = listedWorkflowSchema.extend({
  ...figures,
  latest_runs: z
    .array(z.enum(['In Progress', 'Succeeded', 'Cancelled', 'Error', 'Draft']))
    .optional()
    .describe('With `include=latest_runs`: the statuses of the last 20 runs, newest first'),
});

export function toCatalogWorkflow({ workflow, figures: found }: CatalogWorkflow, currencies: Currencies) {
  const { lastRunCost, averageDurationSeconds } = found;
  return {
    ...toWorkflow(workflow),
    is_bookmarked: found.isBookmarked,
    last_run_at: found.lastRunAt?.toISOString() ?? null,
    last_run_cost: lastRunCost === null ? null : toAmount(lastRunCost, currencies),
    average_run_duration: averageDurationSeconds === null ? null : toMilliseconds(Number(averageDurationSeconds)),
    total_cost: toAmount(found.totalCostUsd, currencies),
  };
}

/** Rounds seconds to the millisecond, like `duration` of a run. */
function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
