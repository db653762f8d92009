// Specification, "Billing".
import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import { listRunTransactions, type RunTransaction } from '../../db/nodes/billing-repository.js';
import { badRequestSchema, detailSchema, keyErrors, pathSchema } from '../http/answer-schemas.js';
import { notFound } from '../http/errors.js';
import { envelopeOf, strictPageQuery, toPage, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import { amountSchema } from '../projects/project-view.js';
import { defineRoute, type Route } from '../http/route.js';

const transactionSchema = z.object({
  id: z.string(),
  operation: z.string(),
  status: z.enum(['Succeeded', 'Error']),
  amount: amountSchema,
  reason: z.string(),
  description: z.string(),
  run_id: z.string(),
  path: pathSchema,
  user_id: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/billing-history/workflowrun/:run_id/',
  summary: 'The transactions of a run, one per executed node, oldest first.',
  auth: 'key',
  params: z.object({ run_id: uuid }),
  query: z.object(strictPageQuery()),
  responses: { 200: envelopeOf(transactionSchema), 400: badRequestSchema, 404: detailSchema, ...keyErrors },
  async handler({ deps, caller, params, query }) {
    const page = toPage(query);
    const window = { runId: params.run_id, scope: caller, ...toWindow(page) };
    const found = await listRunTransactions(deps.db, window);
    if (found === undefined) throw notFound();
    const items = found.transactions.map((transaction) => toTransaction(transaction, deps.currencies));
    return { status: 200, body: { ...page, total: found.total, items } };
  },
});

export const billingRoutes: Route[] = [list];

function toTransaction(
  { amount_usd: amountUsd, ...rest }: RunTransaction,
  currencies: Currencies,
): z.infer<typeof transactionSchema> {
  return {
    ...rest,
    amount: toAmount(amountUsd, currencies),
    created_at: rest.created_at.toISOString(),
    updated_at: rest.updated_at.toISOString(),
  };
}
