// Sums up the use of models and the money of all transactions (docs/use/interface-notes/runs.md, "History, usage,
// billing").
import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import { readUsage, type UsageGroup, type UsageRow } from '../../db/spending/usage-repository.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import { invalidFields } from '../http/errors.js';
import { queryInteger } from '../http/pagination.js';
import { MAX_ID } from '../http/path-ids.js';
import { queryDay, queryDayEnd } from '../http/query-values.js';
import type { UsageDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { amountSchema } from '../projects/project-view.js';

const defineRoute = routesOf<UsageDeps>();

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

const usageSchema = z.object({
  key: z.string().describe('The day, the id as text, the name of the model or the word of the kind; empty without one'),
  label: z.string().describe('For people'),
  runs: z.int().describe('Runs with a transaction in the span'),
  calls: z.int().describe('Model calls that were answered'),
  estimated_calls: z.int().describe('Those of them whose tokens nobody has reported'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  amount: amountSchema,
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/usage/',
  summary: "Sums up runs, model calls, tokens and money of the caller's projects.",
  description:
    '`from` and `to` are UTC days, both included: the last 30 days, unless they say otherwise, and 366 at most. Days ' +
    'come in their order and only where something was used; other groups begin with the most expensive one.',
  query: z.object({
    group_by: z.enum(['day', 'project', 'workflow', 'model', 'node_kind']).default('day'),
    from: queryDay.optional(),
    to: queryDayEnd.optional(),
    project: queryInteger(0, MAX_ID).optional(),
  }),
  responses: { 200: z.array(usageSchema) },
  async handler({ deps, caller, query }) {
    const groupBy = query.group_by;
    const span = toSpan(query, new Date());
    const rows = await readUsage(deps.db, { reach: caller, projectId: query.project, groupBy, ...span });
    return { status: 200, body: rows.map((row) => toUsage(row, groupBy, deps.currencies)) };
  },
});

export const usageRoutes: Route<UsageDeps>[] = [read];

/** `query.to` is the end of the last day. */
function toSpan(query: { from?: Date | undefined; to?: Date | undefined }, now: Date): { from: Date; until: Date } {
  const until = query.to ?? new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);
  const from = query.from ?? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS);
  const days = (until.getTime() - from.getTime()) / DAY_MS;
  if (days <= 0) throw invalidFields({ from: ['Ensure this day is not after the last one.'] });
  if (days > MAX_DAYS) throw invalidFields({ from: [`Ensure that there are no more than ${MAX_DAYS} days.`] });
  return { from, until };
}

function toUsage(row: UsageRow, groupBy: UsageGroup, currencies: Currencies): z.infer<typeof usageSchema> {
  return {
    key: row.key,
    label: toLabel(row, groupBy),
    runs: row.runs,
    calls: row.calls,
    estimated_calls: row.estimatedCalls,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    amount: toAmount(row.amountUsd, currencies),
  };
}

/** The operations of transactions: node kinds and other charges. */
const OPERATIONS = new Map<string, string>([
  ...Object.values(nodeDefinitions).map(({ kind, title }) => [kind, title] as const),
  ['marketplace_fee', 'Marketplace fee'],
  ['chat', 'Chat proxy'],
]);

/**
 * The labels of rows without a key: transactions without a model, and calls of the chat proxy without a project or a
 * workflow.
 */
const NAMELESS: Partial<Record<UsageGroup, string>> = {
  model: 'No model',
  project: 'No project',
  workflow: 'No workflow',
};

function toLabel({ key, label }: UsageRow, groupBy: UsageGroup): string {
  if (groupBy === 'node_kind') return OPERATIONS.get(key) ?? key;
  return key === '' ? (NAMELESS[groupBy] ?? label) : label;
}
