// Detects results that are outdated because their node has changed since.
import { dataOf, nodesOf, typeOf, type Drawing, type NodeKinds } from '../../../drawing/drawing.js';
import { isEqualJson, type JsonObject } from '../../../../graph/json.js';
import { exitsOf, withTargets } from '../../../drawing/links.js';
import type { NodeTest } from './test-store.js';

/**
 * True if the node's kind or data has changed. Links and earlier nodes are ignored. A changed secret goes unnoticed,
 * because the service masks secrets.
 */
export function isChanged(then: Drawing, now: Drawing, nodeId: string, kinds: NodeKinds): boolean {
  const [before, after] = [nodesOf(then).get(nodeId), nodesOf(now).get(nodeId)];
  if (before === after) return false;
  if (before === undefined || after === undefined || typeOf(before) !== typeOf(after)) return true;
  const ownData = (data: JsonObject): JsonObject =>
    exitsOf(kinds.get(typeOf(after)), data).reduce((own, exit) => withTargets(own, exit, []), data);
  return !isEqualJson(dataOf(before), dataOf(after)) && !isEqualJson(ownData(dataOf(before)), ownData(dataOf(after)));
}

/** Returns the ids of the nodes that have changed since they produced their results. */
export function changedSince(results: ReadonlyMap<string, NodeTest>, now: Drawing, kinds: NodeKinds): string[] {
  return [...results].flatMap(([id, { entry, drawing }]) => {
    const hasEnded = entry.status === 'succeed' || entry.status === 'failed';
    return hasEnded && isChanged(drawing, now, id, kinds) ? [id] : [];
  });
}
