// Specification, "Billing".
import { z } from 'zod';
import { listRunTransactions } from '../../db/nodes/billing-repository.js';
import type { Scope } from '../../db/projects/scope.js';
import { hiddenFrom } from '../access/key-project.js';
import { badRequestSchema, detailSchema, keyErrors } from '../http/answer-schemas.js';
import { envelopeOf, strictPageQuery, toPage, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import { defineRoute, type Route } from '../http/route.js';
import { toTransaction, transactionSchema } from './transaction-view.js';

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/billing-history/workflowrun/:run_id/',
  summary: 'The transactions of a run, one per executed node, oldest first.',
  auth: 'key',
  keyScope: 'full',
  params: z.object({ run_id: uuid }),
  query: z.object(strictPageQuery()),
  responses: { 200: envelopeOf(transactionSchema), 400: badRequestSchema, 404: detailSchema, ...keyErrors },
  async handler({ deps, caller, params, query }) {
    const page = toPage(query);
    const find = (scope: Scope) => listRunTransactions(deps.db, { runId: params.run_id, scope, ...toWindow(page) });
    const found = await find(caller);
    if (found === undefined) throw await hiddenFrom(caller, find);
    const items = found.transactions.map((transaction) => toTransaction(transaction, deps.currencies));
    return { status: 200, body: { ...page, total: found.total, items } };
  },
});

export const billingRoutes: Route[] = [list];
