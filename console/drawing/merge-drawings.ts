// Merges the changes that two authors, such as a person and the assistant, have made in copies of one drawing. Where
// both have changed the same value, that of `mine` counts.
import { isEqualJson, isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { dataOf, isNode, nodesOf, typeOf, type Drawing, type NodeKinds } from './drawing.js';
import { exitsOf, targetsIn, withTargets } from './links.js';

/** Lists whose items are found by `id`. */
const LISTS_BY_ID = new Set(['nodes', 'notes']);

/** `base` is the common origin of both copies. Returns `theirs` or `mine` itself if the other has changed nothing. */
export function mergeDrawings(kinds: NodeKinds, base: Drawing, mine: Drawing, theirs: Drawing): Drawing {
  if (isEqualJson(mine, base)) return theirs;
  if (isEqualJson(theirs, base)) return mine;
  const merged = mergeObjects(base, mine, theirs, true);
  const left = nodesOf(merged);
  const lost = new Set([mine, theirs].flatMap((drawing) => [...nodesOf(drawing).keys()]).filter((id) => !left.has(id)));
  return withoutLostEdges(lost.size === 0 ? merged : withoutLostTargets(merged, kinds, lost));
}

/** Returns the ids of the nodes that were added or changed since `before`. Positions do not count. */
export function changedNodes(before: Drawing, after: Drawing): Set<string> {
  const earlier = nodesOf(before);
  const changed = [...nodesOf(after).values()].filter((node) => {
    const then = earlier.get(node.id);
    return then === undefined || then['type'] !== node['type'] || !isEqualJson(dataOf(then), dataOf(node));
  });
  return new Set(changed.map(({ id }) => id));
}

function mergeObjects(base: JsonObject, mine: JsonObject, theirs: JsonObject, isDrawing = false): JsonObject {
  const merged: JsonObject = {};
  for (const key of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    const [then, own, other] = [ownValue(base, key), ownValue(mine, key), ownValue(theirs, key)];
    const value =
      isDrawing && LISTS_BY_ID.has(key)
        ? mergeItems(toItems(then), toItems(own), toItems(other), idOf)
        : isDrawing && key === 'edges'
          ? mergeItems(toItems(then), toItems(own), toItems(other), endsOf)
          : mergeValues(then, own, other);
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

function mergeValues(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (isEqualJson(mine, base)) return theirs;
  if (isEqualJson(theirs, base)) return mine;
  if (isObject(mine) && isObject(theirs)) return mergeObjects(isObject(base) ? base : {}, mine, theirs);
  if (isTexts(mine) && isTexts(theirs)) return mergeItems(isTexts(base) ? base : [], mine, theirs, (text) => text);
  return mine;
}

/** Returns the items in the order of `mine`, followed by those that only `theirs` has added. */
function mergeItems<Item>(
  base: readonly Item[],
  mine: readonly Item[],
  theirs: readonly Item[],
  keyOf: (item: Item) => string,
): Item[] {
  const byKey = (items: readonly Item[]) => new Map(items.map((item) => [keyOf(item), item]));
  const [then, own, other] = [byKey(base), byKey(mine), byKey(theirs)];
  const merged: Item[] = [];
  for (const [key, item] of own) {
    const [earlier, changed] = [then.get(key), other.get(key)];
    if (changed !== undefined) merged.push(mergeValues(earlier, item, changed) as Item);
    // An item that `theirs` lacks stays if `mine` has added or changed it.
    else if (earlier === undefined || !isEqualJson(earlier, item)) merged.push(item);
  }
  for (const [key, item] of other) if (!own.has(key) && !then.has(key)) merged.push(item);
  return merged;
}

/** Drops the links in the data of nodes that lead to removed nodes. */
function withoutLostTargets(drawing: Drawing, kinds: NodeKinds, lost: ReadonlySet<string>): Drawing {
  const nodes = toItems(drawing['nodes']).map((node) => {
    if (!isNode(node)) return node;
    let data = dataOf(node);
    for (const exit of exitsOf(kinds.get(typeOf(node)), data)) {
      const targets = targetsIn(data, exit);
      if (targets?.some((id) => lost.has(id)) === true) {
        data = withTargets(
          data,
          exit,
          targets.filter((id) => !lost.has(id)),
        );
      }
    }
    return data === dataOf(node) ? node : { ...node, data };
  });
  return { ...drawing, nodes };
}

/** Drops the edges from or to nodes that are not in the drawing. */
function withoutLostEdges(drawing: Drawing): Drawing {
  const { edges } = drawing;
  if (!Array.isArray(edges)) return drawing;
  const nodes = nodesOf(drawing);
  const isThere = (id: unknown): boolean => typeof id !== 'string' || nodes.has(id);
  const left = edges.filter((edge) => !isObject(edge) || (isThere(edge['source']) && isThere(edge['target'])));
  return left.length === edges.length ? drawing : { ...drawing, edges: left };
}

function toItems(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function idOf(item: unknown): string {
  const id = isObject(item) ? item['id'] : undefined;
  return typeof id === 'string' ? id : JSON.stringify(item);
}

function endsOf(edge: unknown): string {
  if (!isObject(edge)) return JSON.stringify(edge);
  return JSON.stringify([edge['source'], edge['sourceHandle'] ?? null, edge['target']]);
}
