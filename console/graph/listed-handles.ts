// The items of a node's data that are its handles: cases and actions, for example. The drawn edges of an item name it by its
// id, and follow it when it gets another one.
import { dataOf, nodesOf, typeOf, type Drawing } from './drawing.js';
import { targetsIn } from './exits.js';
import { asArray, asObject, asText, isObject, type JsonObject } from './json.js';
import type { NodeKind, NodeKinds } from './node-kind.js';
import { startValue } from './start-value.js';

/** Every kind has the edge that is taken after a failure. */
const ERROR_EDGE = 'error';

/** What one item is called: the title of the items' schema, else that of the list. */
export function itemTitle(list: JsonObject): string {
  return asText(asObject(list['items'])['title']) ?? asText(list['title']) ?? 'Item';
}

/** One more item, with an id of its own and a label that says so. `list` is the schema of the list. */
export function startItem(kind: NodeKind, list: JsonObject, others: readonly unknown[]): JsonObject {
  const taken = new Set([ERROR_EDGE, ...kind.handles.map(({ id }) => id), ...others.map(idOf)]);
  const title = itemTitle(list);
  const base = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_');
  let number = others.length + 1;
  while (taken.has(`${base}_${number}`)) number += 1;
  return { ...asObject(startValue(list['items'])), id: `${base}_${number}`, label: `${title} ${number}` };
}

/** The data of a new node, in which each item has an id. */
export function withListedHandles(kind: NodeKind, data: JsonObject): JsonObject {
  const field = kind.handles_from;
  if (field === undefined) return data;
  const list = listSchema(kind, field);
  const given = asArray(data[field] ?? list['default']);
  const items: unknown[] = [];
  for (const item of given) {
    items.push((idOf(item) ?? '') === '' ? { ...startItem(kind, list, items), ...withoutId(item) } : item);
  }
  return { ...data, [field]: items };
}

/** The schema of the field whose items are handles. */
export function listSchema({ schema }: NodeKind, field: string): JsonObject {
  return asObject(asObject(schema['properties'])[field]);
}

/** The drawing, whose node has got other data, with the drawn edges of the items that have another id or are gone. */
export function followHandles(before: Drawing, after: Drawing, kinds: NodeKinds, nodeId: string): Drawing {
  const [from, to] = [nodesOf(before).get(nodeId), nodesOf(after).get(nodeId)];
  const field = from && kinds.get(typeOf(from))?.handles_from;
  if (to === undefined || field === undefined) return after;
  const [old, now] = [asArray(dataOf(from)[field]), asArray(dataOf(to)[field])];
  if (old === now) return after;
  const [oldIds, nowIds] = [old.map(idOf), now.map(idOf)];
  const changed = old.length === now.length ? oldIds.flatMap((id, at) => (id === nowIds[at] ? [] : [at])) : [];
  const [at] = changed;
  const gone = new Set(oldIds.filter((id) => id !== undefined && !nowIds.includes(id)));
  if (changed.length === 1 && at !== undefined) {
    const path = [field, at, 'node'];
    const targets = targetsIn(dataOf(to), { handle: null, label: '', path });
    const isShared = nowIds.includes(oldIds[at]);
    return withEdges(after, (edge) => {
      if (edge['source'] !== nodeId || edge['sourceHandle'] !== oldIds[at]) return edge;
      const isOwn = targets === undefined ? !isShared : targets.includes(String(edge['target']));
      return isOwn ? { ...edge, sourceHandle: nowIds[at] } : edge;
    });
  }
  return withEdges(after, (edge) =>
    edge['source'] === nodeId && gone.has(asText(edge['sourceHandle'])) ? undefined : edge,
  );
}

function withEdges(drawing: Drawing, change: (edge: JsonObject) => JsonObject | undefined): Drawing {
  const edges = asArray(drawing['edges']);
  const next = edges.map((edge) => (isObject(edge) ? change(edge) : edge)).filter((edge) => edge !== undefined);
  const isSame = next.length === edges.length && next.every((edge, at) => edge === edges[at]);
  return isSame ? drawing : { ...drawing, edges: next };
}

function idOf(item: unknown): string | undefined {
  return asText(asObject(item)['id']);
}

function withoutId(item: unknown): JsonObject {
  const { id: _empty, ...rest } = asObject(item);
  return rest;
}
