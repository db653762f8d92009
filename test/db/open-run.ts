// A run that only the test executes: accepted and started in the database, and unknown to Temporal and its workers.
import { randomUUID } from 'node:crypto';
import type { AnsweredCall } from '../../db/agents/agent-charges.js';
import type { AskedApproval } from '../../db/agents/agent-repository.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import type { NodeEndRow } from '../../db/nodes/node-results-repository.js';
import { startRun } from '../../db/runs/run-life.js';
import { insertAcceptedRun } from '../../db/runs/runs-repository.js';
import { storeSnapshot } from '../../db/runs/snapshots-repository.js';
import type { NodeKind } from '../../graph/kinds.js';
import { isPlain } from '../../graph/plain-plan.js';
import type { Plan } from '../../graph/plan.js';
import { eventually } from '../../harness/timing/eventually.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';

/** The time after which the reconciler would check the run. */
const CHECK_IN_SECONDS = 3600;

export interface OpenRun {
  id: string;
  projectId: number;
  userId: number;
  /** The ids of its nodes, in their order. */
  nodeIds: string[];
}

/** The approval that a tool call waits for: by one person, of a call without arguments. */
export function askedApproval(): AskedApproval {
  const asked = { shownArguments: '{}', argumentsHash: '', expiresInSeconds: 600 };
  return { ...asked, requestId: randomUUID(), required: 1, excludeStarter: false, roles: null, onlyUser: null };
}

/** Connects as a worker or an API process does. */
export async function connect(poolMax = 4): Promise<Database> {
  const { stack } = await sharedStack();
  return createDatabase({ url: stack.database_url, poolMax, applicationName: 'test', onError: () => undefined });
}

export async function openRun(db: Database, kinds: NodeKind[]): Promise<OpenRun> {
  const userId = (await sharedStack()).stack.user_id;
  const project = { name: 'of a test', created_by: userId };
  const { id: projectId } = await db.insertInto('projects').values(project).returning('id').executeTakeFirstOrThrow();
  const nodeIds = kinds.map(() => randomUUID());
  const document = JSON.stringify({ nodes: nodeIds.map((id) => ({ id })), edges: [] });
  const { id: workflowId } = await db
    .insertInto('workflows')
    .values({ project_id: projectId, author_id: userId, title: 'of a test', sort_id: 1, document })
    .returning('id')
    .executeTakeFirstOrThrow();
  const plan = toPlan(nodeIds, kinds);
  const run = {
    id: randomUUID(),
    workflow_id: workflowId,
    project_id: projectId,
    user_id: userId,
    snapshot_hash: await storeSnapshot(db, document, plan),
    input: '{}',
    input_enc: null,
    secrets_enc: null,
    is_plain: isPlain(plan, {}),
  };
  await insertAcceptedRun(db, run, CHECK_IN_SECONDS);
  await startRun(db, run.id);
  return { id: run.id, projectId, userId, nodeIds };
}

function toPlan(ids: string[], kinds: NodeKind[]): Plan {
  const labels = kinds.map((kind) => `a ${kind}`);
  return { ids, kinds, labels, out: kinds.map(() => []), indegree: kinds.map(() => 0) };
}

/** The successful end of a node that costs nothing, except for the fields of `with_`. */
export function nodeEnd(run: OpenRun, nodeId: string, kind: NodeKind, with_: Partial<NodeEndRow> = {}): NodeEndRow {
  return {
    runId: run.id,
    path: '',
    nodeId,
    kind,
    label: `a ${kind}`,
    projectId: run.projectId,
    userId: run.userId,
    status: 'succeed',
    tookMs: 0,
    handle: 0,
    alsoHandles: null,
    isHandled: false,
    result: '{"content":"done"}',
    resultEnc: null,
    errorCode: null,
    errorMessage: null,
    amountUsd: '0',
    priceVersion: '',
    reason: '',
    isEstimated: false,
    ...with_,
  };
}

/** The answer to a model call, as its first attempt records it. */
export function paidCall(priceUsd: string, of: { turn?: number; attempt?: number } = {}): AnsweredCall {
  return { turn: 0, attempt: 1, usage: null, priceUsd, tokens: { input: 1, output: 2 }, isEstimated: false, ...of };
}

/** Resolves once a statement with this text in its first 1,024 bytes (PostgreSQL shows no more) waits for a lock. */
export async function untilWaiting(text: string): Promise<void> {
  const stack = await sharedStack();
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 in query) > 0
    AND pid <> pg_backend_pid()`;
  await eventually(async () => (await queryDatabase(stack, waiting, [text])).length > 0, { intervalMs: 5 });
}
