// Tells whether the last result of a node is still that of the node as it is drawn.
import { dataOf, nodesOf, typeOf, type Drawing, type NodeKinds } from '../../../drawing/drawing.js';
import { isEqualJson, type JsonObject } from '../../../ui/json.js';
import { exitsOf, withTargets } from '../../../drawing/links.js';
import type { NodeTest } from './test-store.js';

/**
 * Returns whether the node itself has changed: its kind or its data. Where it leads to and what comes before it do not
 * count. The service masks secrets, so another value of a stored secret is not seen.
 */
export function isChanged(then: Drawing, now: Drawing, nodeId: string, kinds: NodeKinds): boolean {
  const [before, after] = [nodesOf(then).get(nodeId), nodesOf(now).get(nodeId)];
  if (before === after) return false;
  if (before === undefined || after === undefined || typeOf(before) !== typeOf(after)) return true;
  const ownData = (data: JsonObject): JsonObject =>
    exitsOf(kinds.get(typeOf(after)), data).reduce((own, exit) => withTargets(own, exit, []), data);
  return !isEqualJson(dataOf(before), dataOf(after)) && !isEqualJson(ownData(dataOf(before)), ownData(dataOf(after)));
}

/** Returns the ids of the nodes whose results have ended and are no longer those of the nodes as they are drawn. */
export function changedSince(results: ReadonlyMap<string, NodeTest>, now: Drawing, kinds: NodeKinds): string[] {
  return [...results].flatMap(([id, { entry, drawing }]) => {
    const hasEnded = entry.status === 'succeed' || entry.status === 'failed';
    return hasEnded && isChanged(drawing, now, id, kinds) ? [id] : [];
  });
}
