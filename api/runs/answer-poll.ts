// What a poll answers. Results and everything final come from Postgres. What is in flight comes from the run's workflow,
// where it answers in time (docs/adr/0002-polls-read-postgres.md).
import { readResultPieces, type PolledNode, type PolledRun } from '../../db/runs/poll-repository.js';
import type { LiveNode } from '../../contract/run-workflow.js';
import type { AppDeps } from '../deps.js';
import type { RouteResult } from '../http/route.js';
import { toExecutionStatus, toNodeMap } from './node-map.js';

/** Most runs have ended by then, and a client has hardly seen that they began. */
const ASK_FROM_AGE_MS = 1_000;

export async function answerPoll({ db, liveStatus }: AppDeps, run: PolledRun): Promise<RouteResult> {
  const isAsked = run.status === 'In Progress' && run.ageMs >= ASK_FROM_AGE_MS;
  const live = isAsked ? await liveStatus.nodesOf(run.runId) : undefined;
  const nodes = live === undefined ? run.nodes : mergeLive(run.nodes, live);
  const status = toExecutionStatus(run.status, run.isStarted || (live ?? []).length > 0);
  const data = toNodeMap(nodes, run.nodeErrors, (nodeId) => readResultPieces(db, run.runId, nodeId));
  return { status: 200, body: { status: 200, data: { id: run.runId, status, data } } };
}

/**
 * The stored nodes, and after them those in flight that are not stored yet. What is stored holds, for the answer may be
 * older than it: a node that has ended stays ended, and an agent waits while Postgres has open requests of it.
 */
export function mergeLive(stored: PolledNode[], live: LiveNode[]): PolledNode[] {
  const inFlight = new Map(live.filter(({ path }) => path === '').map((node) => [node.id, node]));
  const nodes = stored.map((node) => {
    const waiting = inFlight.get(node.id)?.waiting;
    inFlight.delete(node.id);
    if (waiting === undefined || !node.approvals) return node;
    return { ...node, approvals: { ...node.approvals, until: new Date(waiting.untilMs).toISOString() } };
  });
  for (const id of inFlight.keys()) nodes.push(begun(id));
  return nodes;
}

function begun(id: string): PolledNode {
  return { id, status: 'in progress', result: null, errorCode: null, errorMessage: null };
}
