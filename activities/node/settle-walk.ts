import type { SettleWalkRef, Walked, WalkedEnd } from '../../contract/activities.js';
import type { Db } from '../../db/core/client.js';
import { findEndsOf } from '../../db/nodes/reused-results-repository.js';
import { closeNode } from '../../db/nodes/node-results-repository.js';
import { mayBeCaught } from '../../graph/caught.js';
import { handleAfter, handlesAfter } from '../../graph/plan.js';
import type { RunContexts } from './run-context.js';

/**
 * Reconstructs the report of an activity that Temporal has given up. The first node of the walk, unless it has ended,
 * and the nodes still in progress fail with `code`. The other starting nodes of the walk that were never attempted are
 * returned as `later`, so that the run workflow starts them.
 */
export async function settleWalk(
  { db, contexts }: { db: Db; contexts: RunContexts },
  { runId, path, nodes, begins = 1, code }: SettleWalkRef,
): Promise<Walked> {
  const plan = (await contexts.load(runId)).planOf(path);
  const numbers = new Map(nodes.map((node) => [plan.ids[node]!, node]));
  const find = () => findEndsOf(db, { runId, path }, [...numbers.keys()]);
  const first = nodes[0]!;
  const open = (await find()).flatMap(({ nodeId, status }) => (status === 'in progress' ? [numbers.get(nodeId)!] : []));
  for (const node of new Set([first, ...open])) {
    const isHandled = mayBeCaught(code) && handleAfter(code, plan, node) !== undefined;
    await closeNode(db, { runId, path, nodeId: plan.ids[node]! }, { code, isHandled });
  }
  const ends = (await find()).map((end): WalkedEnd => {
    const node = numbers.get(end.nodeId)!;
    if (end.status === 'succeed') return [node, ...(handlesAfter(end, plan, node) as [number, ...number[]])];
    return [node, end.errorCode ?? code];
  });
  const ended = new Set(ends.map(([node]) => node));
  const later = nodes.slice(0, begins).filter((node) => !ended.has(node));
  return { ends, ...(later.length > 0 && { later: later.map((node): [number, number] => [node, 0]) }) };
}
