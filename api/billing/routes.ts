// Specification, "Billing".
import { z } from 'zod';
import { listRunTransactions } from '../../db/nodes/billing-repository.js';
import { badRequestSchema, detailSchema, keyErrors } from '../http/answer-schemas.js';
import { notFound } from '../http/errors.js';
import { envelopeOf, strictPageQuery, toPage, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import { defineRoute, type Route } from '../http/route.js';
import { toTransaction, transactionSchema } from './transaction-view.js';

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
