// Answers one node of a run with its attempts, input and transactions.
import { z } from 'zod';
import { listNodeTransactions } from '../../db/spending/billing-repository.js';
import { listStoredAttempts } from '../../db/nodes/node-attempts-repository.js';
import { findNodeDetail, type NodeDetail, type StoredNode } from '../../db/runs/node-detail-repository.js';
import type { NodeKey } from '../../graph/plan.js';
import type { NodeErrors } from '../../graph/validate.js';
import { toTransaction } from '../billing/transaction-view.js';
import { createWaitView, readingRole } from '../waits/wait-view.js';
import type { RunDeps } from './deps.js';
import { orNotFound } from '../http/errors.js';
import { RawJson } from '../http/json-text.js';
import { iterationPath, nodeId, runParams } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { readApartFrom } from './apart-results.js';
import { toLiveEntry } from './answer-poll.js';
import { toNodeEntry } from './node-map.js';
import { nodeSchema, toAttempts } from './node-view.js';
import { renderNodeInput } from './rendered-input.js';
import { toFailedNodes } from '../envelope/run-envelope.js';

const defineRoute = routesOf<RunDeps>();

const MAX_ATTEMPTS = 100;

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/history/:run_id/nodes/:node_id/',
  summary: 'Returns one node of a run: its entry of the poll, its attempts, what it was given, and its transactions.',
  description:
    'A node that the poll does not list, because the run has not reached it, is a 404. `path` names the enclosing iteration of a node inside a loop.',
  keyScope: 'run',
  access: { to: 'workflow', role: 'viewer' },
  params: runParams.extend({ node_id: nodeId }),
  query: z.object({ path: iterationPath.optional() }),
  responses: { 200: nodeSchema },
  async handler({ deps, log, tenant, caller, access, params, query, memory, signal }) {
    const key: NodeKey = { runId: params.run_id, path: query.path ?? '', nodeId: params.node_id };
    const { resultRetentionDays } = deps.config;
    const detail = orNotFound(await findNodeDetail(deps.db, params.id, key, resultRetentionDays));
    const { node } = detail;
    if (node === undefined) return { status: 200, body: await unstarted(deps, key, detail) };
    const waits = createWaitView(deps, readingRole(caller, access.role));
    const entry = toNodeEntry(node, { readApart: readApartFrom(deps.db, key, [node]), waits });
    const asker = { tenant, projectId: access.projectId, signal };
    const input = detail.isExpired
      ? 'expired'
      : await renderNodeInput(deps, { key, moment: node.attemptStartedAt, log, memory, asker });
    const facts = await readFacts(deps, key, node, detail.isExpired);
    const shown = input instanceof RawJson ? { input } : { input: null, input_missing: input };
    return { status: 200, body: { ...entry, ...facts, ...shown } };
  },
});

export const nodeRoutes: Route<RunDeps>[] = [read];

async function readFacts(deps: RunDeps, key: NodeKey, node: StoredNode, isExpired: boolean): Promise<object> {
  const kept = isExpired ? [] : await listStoredAttempts(deps.db, key, MAX_ATTEMPTS);
  const transactions = await listNodeTransactions(deps.db, key);
  return {
    path: key.path,
    started_at: node.startedAt,
    finished_at: node.finishedAt,
    // A node that waits for a worker of its pool has a row before its first attempt. `queuedMs` is null for a node that
    // no attempt claims, such as a condition, a wait or one with a reused result: it counts as not queued.
    queued_ms: node.attempts === 0 ? null : (node.queuedMs ?? 0),
    ...(node.waitedFor !== null && { waited_for: node.waitedFor }),
    attempts: toAttempts(node, kept),
    transactions: transactions.map((transaction) => toTransaction(transaction, deps.currencies)),
  };
}

/** Answers a node without a stored row if it is in flight, or if validation refused it. Throws 404 for any other. */
async function unstarted({ liveStatus }: RunDeps, key: NodeKey, detail: NodeDetail): Promise<object> {
  const entry = orNotFound(refusedEntry(key, detail) ?? (await liveEntry(liveStatus, key, detail)));
  const { path } = key;
  const never = { started_at: null, finished_at: null, queued_ms: null, attempts: [], transactions: [] };
  return { ...entry, path, ...never, input: null, input_missing: 'not_started' };
}

function refusedEntry({ path, nodeId: id }: NodeKey, { nodeErrors }: NodeDetail): object | undefined {
  if (nodeErrors === null || path !== '') return undefined;
  const entries = toFailedNodes(JSON.parse(nodeErrors) as NodeErrors);
  return Object.hasOwn(entries, id) ? entries[id] : undefined;
}

async function liveEntry(
  liveStatus: RunDeps['liveStatus'],
  { runId, path, nodeId: id }: NodeKey,
  { runStatus }: NodeDetail,
): Promise<object | undefined> {
  if (runStatus !== 'In Progress') return undefined;
  const live = (await liveStatus.nodesOf(runId)) ?? [];
  const found = live.find((node) => node.path === path && node.id === id);
  return found && toLiveEntry(found);
}
