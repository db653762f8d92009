// The transactions of runs (docs/use/interface-notes/runs.md, "History, usage, billing").
import { z } from 'zod';
import { listRunTransactions } from '../../db/spending/billing-repository.js';
import { listChatTransactions } from '../../db/spending/chat-transactions-repository.js';
import { findVisible } from '../access/authorize.js';
import { answerPage, envelopeOf, queryInteger, strictPageQuery, toWindow } from '../http/pagination.js';
import { uuid, MAX_ID } from '../http/path-ids.js';
import type { BillingDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { toTransaction, transactionSchema } from './transaction-view.js';

const defineRoute = routesOf<BillingDeps>();

const listOfRun = defineRoute({
  method: 'GET',
  path: '/api/v1/billing-history/workflowrun/:run_id/',
  summary:
    'Lists the transactions of a run, oldest first: one per executed node, and the marketplace fee if one was charged.',
  params: z.object({ run_id: uuid }),
  query: z.object(strictPageQuery()),
  responses: { 200: envelopeOf(transactionSchema) },
  async handler({ deps, caller, params, query }) {
    const found = await findVisible(caller, (reach) =>
      listRunTransactions(deps.db, { runId: params.run_id, reach, ...toWindow(query) }),
    );
    const items = found.transactions.map((transaction) => toTransaction(transaction, deps.currencies));
    return answerPage(query, found.total, items);
  },
});

// The transactions of the chat proxy (docs/use/spending.md, "The chat-completion proxy").

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
  summary: 'Lists the transactions of the chat proxy, newest first.',
  description:
    "One for each call that was made: of the caller's projects, and the caller's own that belong to no project.",
  query: z.object({ ...strictPageQuery(), project: queryInteger(0, MAX_ID).optional() }),
  responses: { 200: envelopeOf(chatTransactionSchema) },
  async handler({ deps, caller, query }) {
    const asked = { reach: caller, projectId: query.project, ...toWindow(query) };
    const { total, transactions } = await listChatTransactions(deps.db, asked);
    const items = transactions.map(({ project_id, provider, model, input_tokens, output_tokens, ...transaction }) => {
      const call = { project: project_id, provider, model, input_tokens, output_tokens };
      return { ...toTransaction(transaction, deps.currencies), ...call };
    });
    return answerPage(query, total, items);
  },
});

export const billingRoutes: Route<BillingDeps>[] = [listOfRun, listOfChat];
