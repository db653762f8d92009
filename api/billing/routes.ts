// Specification, "Billing".
import { z } from 'zod';
import { listRunTransactions } from '../../db/nodes/billing-repository.js';
import type { Reach } from '../../db/projects/reach.js';
import { listChatTransactions } from '../../db/spending/chat-transactions-repository.js';
import { hiddenFrom } from '../access/authorize.js';
import { badRequestSchema, detailSchema, keyErrors } from '../http/answer-schemas.js';
import { envelopeOf, strictPageQuery, toPage, toWindow, queryInteger } from '../http/pagination.js';
import { uuid, MAX_ID } from '../http/path-ids.js';
import { defineRoute, type Route } from '../http/route.js';
import { toTransaction, transactionSchema } from './transaction-view.js';

const listOfRun = defineRoute({
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
    const find = (reach: Reach) => listRunTransactions(deps.db, { runId: params.run_id, reach, ...toWindow(page) });
    const found = await find(caller);
    if (found === undefined) throw await hiddenFrom(caller, find);
    const items = found.transactions.map((transaction) => toTransaction(transaction, deps.currencies));
    return { status: 200, body: { ...page, total: found.total, items } };
  },
});

// The calls of the chat proxy in the books. Specification: extensions, "Money that stops".

const chatTransactionSchema = transactionSchema.extend({
  run_id: z.null(),
  project: z.int().nullable().describe('Null for a call that belongs to no project'),
  provider: z.string(),
  model: z.string(),
  input_tokens: z.int(),
  output_tokens: z.int(),
});

const listOfChat = defineRoute({
  method: 'GET',
  path: '/api/v1/billing-history/chat/',
  summary: 'The transactions of the chat proxy, newest first.',
  description:
    "One for each call that was made: of the caller's projects, and the caller's own that belong to no project.",
  auth: 'key',
  keyScope: 'full',
  query: z.object({ ...strictPageQuery(), project: queryInteger(0, MAX_ID).optional() }),
  responses: { 200: envelopeOf(chatTransactionSchema), 400: badRequestSchema, ...keyErrors },
  async handler({ deps, caller, query }) {
    const page = toPage(query);
    const asked = { reach: caller, projectId: query.project, ...toWindow(page) };
    const { total, transactions } = await listChatTransactions(deps.db, asked);
    const items = transactions.map(({ project_id, provider, model, input_tokens, output_tokens, ...transaction }) => {
      const call = { project: project_id, provider, model, input_tokens, output_tokens };
      return { ...toTransaction(transaction, deps.currencies), ...call };
    });
    return { status: 200, body: { ...page, total, items } };
  },
});

export const billingRoutes: Route[] = [listOfRun, listOfChat];
