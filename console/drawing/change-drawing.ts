// Changes to a drawing: nodes, then links, then list items that are handles.
import { createIdempotencyKey } from '../../clients/typescript/src/index.js';
import { bodiesOf } from './bodies.js';
import {
  dataOf,
  isNode,
  isStart,
  nodesOf,
  positionOf,
  replaceNode,
  startOf,
  typeOf,
  type Drawing,
  type DrawnNode,
  type NodeKind,
  type NodeKinds,
  type Position,
} from './drawing.js';
import { CARD_WIDTH, cardHeight } from './flow-nodes.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { asArray, asObject, asText, objectsOf } from '../ui/json.js';
import { layOut } from './lay-out.js';
import {
  exitOfEdge,
  exitsOf,
  linksOf,
  offeredExits,
  reaches,
  setAt,
  targetsIn,
  withTargets,
  type Exit,
  type Link,
} from './links.js';

/**
 * Adds a node with the initial values of its schema. The node becomes the start node of the drawing if the drawing has
 * none, or if runs start with its kind (`isStart`) and not with that of the present start node.
 */
export function addNode(
  drawing: Drawing,
  kinds: NodeKinds,
  kind: NodeKind,
  position: Position,
): { drawing: Drawing; id: string } {
  const id = newId();
  const label = freeLabel(drawing, kind.title);
  const links = kind.handles.length === 0 && kind.handles_from === undefined ? { next_nodes: [] } : {};
  const initial = withListedHandles(kind, startData(drawing, kind));
  const data = { id, name: kind.title, label, version: kind.version, ...initial, ...links };
  const node = { id, type: kind.type, position, data };
  const nodes = [...asArray(drawing['nodes']), node];
  const added = { edges: [], ...drawing, nodes };
  return { id, drawing: needsStart(drawing, kinds, kind) ? { ...added, start_node: id } : added };
}

function needsStart(drawing: Drawing, kinds: NodeKinds, kind: NodeKind): boolean {
  const start = nodesOf(drawing).get(startOf(drawing) ?? '');
  return start === undefined || (isStart(kind) && !isStart(kinds.get(typeOf(start))));
}

/** A new node gets the model of the last node with one, because most drawings use one model. */
function startData(drawing: Drawing, kind: NodeKind): JsonObject {
  const data = startValue(kind.schema) as JsonObject;
  const settings = data['settings'];
  if (!isObject(settings) || settings['model_name'] !== '') return data;
  const models = [...nodesOf(drawing).values()].map((node) => {
    const known = dataOf(node)['settings'];
    return isObject(known) ? known['model_name'] : undefined;
  });
  const model = models.findLast((name) => typeof name === 'string' && name !== '');
  return model === undefined ? data : { ...data, settings: { ...settings, model_name: model } };
}

/**
 * Returns `HTTP request`, then `HTTP request 2`, because people tell nodes apart by label in the lists of links and
 * problems.
 */
function freeLabel(drawing: Drawing, title: string): string {
  const used = new Set([...nodesOf(drawing).values()].map((node) => dataOf(node)['label']));
  if (!used.has(title)) return title;
  for (let number = 2; ; number += 1) if (!used.has(`${title} ${number}`)) return `${title} ${number}`;
}

export function setData(drawing: Drawing, id: string, data: JsonObject): Drawing {
  return replaceNode(drawing, id, (node) => (node['data'] === data ? node : { ...node, data }));
}

/** Renames a node. Everything else stays as it is in `drawing`. */
export function setLabel(drawing: Drawing, id: string, label: string): Drawing {
  return replaceNode(drawing, id, (node) => ({ ...node, data: { ...dataOf(node), label } }));
}

/** Moves nodes. Unmoved nodes remain the same objects. */
export function moveNodes(drawing: Drawing, positions: ReadonlyMap<string, Position>): Drawing {
  let hasMoved = false;
  const nodes = asArray(drawing['nodes']).map((node) => {
    const to = isNode(node) ? positions.get(node.id) : undefined;
    if (!isNode(node) || to === undefined) return node;
    const from = positionOf(node);
    if (from.x === to.x && from.y === to.y) return node;
    hasMoved = true;
    const known = isObject(node['position']) ? node['position'] : {};
    return { ...node, position: { ...known, x: to.x, y: to.y } };
  });
  return hasMoved ? { ...drawing, nodes } : drawing;
}

/** Removes the nodes and their links. */
export function removeNodes(drawing: Drawing, kinds: NodeKinds, ids: ReadonlySet<string>): Drawing {
  const touched = linksOf(drawing, kinds).filter(({ source, target }) => ids.has(source) || ids.has(target));
  const unlinked = disconnect(drawing, kinds, touched);
  const nodes = asArray(unlinked['nodes']).filter((node) => !isNode(node) || !ids.has(node.id));
  if (nodes.length === asArray(unlinked['nodes']).length) return drawing;
  const left = { ...unlinked, nodes };
  if (!ids.has(startOf(drawing) ?? '')) return left;
  const { start_node: _gone, ...rest } = left as JsonObject;
  const next = [...nodesOf(rest).values()].find((node) => isStart(kinds.get(typeOf(node))));
  return next === undefined ? rest : { ...rest, start_node: next.id };
}

// Links. A node's data decides what runs; changes update the drawn edges to match.

export interface NewLink {
  source: string;
  handle: string | null;
  target: string;
}

/** True if the link is possible: the handle exists, and the link is no self-link, no duplicate and closes no cycle. */
export function mayConnect(drawing: Drawing, kinds: NodeKinds, { source, handle, target }: NewLink): boolean {
  const [from, to] = [nodesOf(drawing).get(source), nodesOf(drawing).get(target)];
  if (from === undefined || to === undefined || source === target) return false;
  const exits = exitsOf(kinds.get(typeOf(from)), dataOf(from));
  if (!exits.some((exit) => exit.handle === handle)) return false;
  const links = linksOf(drawing, kinds);
  const isThere = links.some(
    (link) => !link.isIdle && link.source === source && link.handle === handle && link.target === target,
  );
  return !isThere && !reaches(links, target, source);
}

/** Returns the same drawing if the link is not possible. */
export function connect(drawing: Drawing, kinds: NodeKinds, link: NewLink): Drawing {
  if (!mayConnect(drawing, kinds, link)) return drawing;
  const { source, handle, target } = link;
  const targets = runningTargets(linksOf(drawing, kinds), link);
  const linked = setTargets(drawing, kinds, source, handle, [...targets, target]);
  if (edgesOf(linked, kinds, source, handle).some((edge) => edge['target'] === target)) return linked;
  const edge: JsonObject = {
    id: newId(),
    source,
    target,
    ...(handle !== null && { sourceHandle: handle }),
  };
  return { ...linked, edges: [...asArray(drawing['edges']), edge] };
}

/** Removes the links and the edges that draw them. */
export function disconnect(drawing: Drawing, kinds: NodeKinds, links: readonly Link[]): Drawing {
  const gone = new Set(links.map(({ id }) => id));
  // The edges first, because the targets that an exit gets depend on its remaining edges.
  let changed = withoutEdges(drawing, kinds, links);
  for (const [source, handle] of exitsThatLose(links)) {
    const left = linksOf(drawing, kinds).filter(
      (link) => link.source === source && link.handle === handle && !link.isIdle && !gone.has(link.id),
    );
    changed = setTargets(
      changed,
      kinds,
      source,
      handle,
      left.map(({ target }) => target),
    );
  }
  return changed;
}

/** Returns the exits whose running links change. An idle link is only an edge, so it changes no exit. */
function exitsThatLose(links: readonly Link[]): (readonly [string, string | null])[] {
  const exits = links.filter(({ isIdle }) => !isIdle).map(({ source, handle }) => [source, handle] as const);
  return [...new Map(exits.map((exit) => [JSON.stringify(exit), exit])).values()];
}

function withoutEdges(drawing: Drawing, kinds: NodeKinds, links: readonly Link[]): Drawing {
  const edges = asArray(drawing['edges']);
  const nodes = nodesOf(drawing);
  const left = edges.filter((edge) => {
    if (!isObject(edge)) return true;
    return !links.some(({ source, handle, target }) => {
      if (edge['source'] !== source || edge['target'] !== target) return false;
      const node = nodes.get(source);
      const exit = node && exitOfEdge(edge, exitsOf(kinds.get(typeOf(node)), dataOf(node)));
      return exit === undefined ? isOf(edge, handle) : exit.handle === handle;
    });
  });
  return left.length === edges.length ? drawing : { ...drawing, edges: left };
}

/** `edge` belongs to no exit of its node. Returns true if the edge draws the idle link with this handle. */
function isOf(edge: JsonObject, handle: string | null): boolean {
  return (asText(edge['sourceHandle']) ?? null) === handle;
}

/** Returns the edges that a run uses for an exit if the data has no targets of the exit. */
function edgesOf(drawing: Drawing, kinds: NodeKinds, source: string, handle: string | null): JsonObject[] {
  const node = nodesOf(drawing).get(source);
  const exits = exitsOf(node && kinds.get(typeOf(node)), dataOf(node));
  return objectsOf(drawing['edges']).filter(
    (edge) => edge['source'] === source && exitOfEdge(edge, exits)?.handle === handle,
  );
}

function runningTargets(links: readonly Link[], { source, handle }: NewLink): string[] {
  return links.flatMap((link) =>
    link.source === source && link.handle === handle && !link.isIdle ? [link.target] : [],
  );
}

function setTargets(
  drawing: Drawing,
  kinds: NodeKinds,
  source: string,
  handle: string | null,
  targets: readonly string[],
): Drawing {
  return replaceNode(drawing, source, (node) => {
    const exits: readonly Exit[] = exitsOf(kinds.get(typeOf(node)), dataOf(node));
    const exit = exits.find((each) => each.handle === handle);
    if (exit === undefined) return node;
    const data = withTargets(dataOf(node), exit, targets);
    // An empty list keeps the remaining edges of the exit idle. With null, a run would use them.
    const isKeptEmpty = targets.length === 0 && edgesOf(drawing, kinds, source, handle).length > 0;
    return { ...node, data: isKeptEmpty ? setAt(data, exit.path, []) : data };
  });
}

// List items in a node's data that are handles, such as cases and actions. Drawn edges refer to an item by its id, so
// they change with the id.

/** Reserved: the handle of the failure edge, which a node of any kind may have. */
const ERROR_EDGE = 'error';

/** Returns the name of one item: the title of the items' schema, else that of the list. */
export function itemTitle(list: JsonObject): string {
  return asText(asObject(list['items'])['title']) ?? asText(list['title']) ?? 'Item';
}

/** Creates an item with a unique id and a numbered label. `list` is the schema of the list. */
export function startItem(kind: NodeKind, list: JsonObject, others: readonly unknown[]): JsonObject {
  const used = new Set([ERROR_EDGE, ...kind.handles.map(({ id }) => id), ...others.map(idOf)]);
  const title = itemTitle(list);
  const base = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_');
  let number = others.length + 1;
  while (used.has(`${base}_${number}`)) number += 1;
  return { ...asObject(startValue(list['items'])), id: `${base}_${number}`, label: `${title} ${number}` };
}

/** Returns the data of a new node with an id for each item. */
function withListedHandles(kind: NodeKind, data: JsonObject): JsonObject {
  const field = kind.handles_from;
  if (field === undefined) return data;
  const list = listSchema(kind, field);
  const listed = asArray(data[field] ?? list['default']);
  // An absent list must not become an empty one: without a list the node has its ordinary exit, with an empty one it
  // has none.
  if (listed.length === 0) return data;
  const items: unknown[] = [];
  for (const item of listed) {
    items.push((idOf(item) ?? '') === '' ? { ...startItem(kind, list, items), ...withoutId(item) } : item);
  }
  return { ...data, [field]: items };
}

/** Returns the schema of a list. The schema of a list that may be null has alternatives (`anyOf`). */
export function listSchema({ schema }: NodeKind, field: string): JsonObject {
  const list = asObject(asObject(schema['properties'])[field]);
  const alternative = asArray(list['anyOf'])
    .map(asObject)
    .find(({ type }) => type === 'array');
  return { ...alternative, ...list };
}

/**
 * Updates the links of a node after a change of its data. The links of an item whose id has changed follow the item.
 * The links of a removed exit are removed, with two exceptions: if items replace the ordinary exit, its links pass to
 * the first item, and if the ordinary exit comes back, the links of the removed items pass to it.
 */
export function followHandles(before: Drawing, changed: Drawing, kinds: NodeKinds, nodeId: string): Drawing {
  const from = nodesOf(before).get(nodeId);
  const kind = from && kinds.get(typeOf(from));
  if (from === undefined || kind === undefined) return changed;
  const after = withoutEmptyList(changed, kind, nodeId);
  const to = nodesOf(after).get(nodeId);
  if (to === undefined) return after;
  const renamed = followRenamed(after, kind, from, to);
  if (renamed !== undefined) return renamed;
  const [old, now] = [exitsOf(kind, dataOf(from)), exitsOf(kind, dataOf(to))];
  const without = (exits: readonly Exit[], others: readonly Exit[]) =>
    exits.filter(({ handle }) => !others.some((other) => other.handle === handle));
  const [gone, fresh] = [without(old, now), without(now, old)];
  if (gone.length === 0) return after;
  const lost = linksOf(before, kinds).filter(
    ({ source, handle, isIdle }) => source === nodeId && !isIdle && gone.some((exit) => exit.handle === handle),
  );
  const cleared = replaceNode(withoutExits(after, nodeId, old, gone), nodeId, (node) => {
    return { ...node, data: gone.reduce(withoutTargets, dataOf(node)) };
  });
  const heir = fresh.find(({ handle }) => handle === null) ?? (gone.some(isOrdinary) ? fresh[0] : undefined);
  if (heir === undefined) return cleared;
  return lost.reduce(
    (drawing, { target }) => connect(drawing, kinds, { source: nodeId, handle: heir.handle, target }),
    cleared,
  );
}

/** Removes an optional list once it is empty, because an empty list would mean that the node has no exit. */
function withoutEmptyList(
  drawing: Drawing,
  { handles_from: field, is_list_optional }: NodeKind,
  nodeId: string,
): Drawing {
  if (field === undefined || is_list_optional !== true) return drawing;
  return replaceNode(drawing, nodeId, (node) => {
    const { [field]: list, ...rest } = dataOf(node);
    return Array.isArray(list) && list.length === 0 ? { ...node, data: rest } : node;
  });
}

function isOrdinary({ handle }: Exit): boolean {
  return handle === null;
}

/** Removes the targets of an exit. The targets of a list item are already gone with the item. */
function withoutTargets(data: JsonObject, exit: Exit): JsonObject {
  const isKept = typeof exit.path[1] === 'number' || targetsIn(data, exit) === undefined;
  return isKept ? data : withTargets(data, exit, []);
}

/** Removes the edges of a node that lead from the `gone` exits. `old` are all exits of the node before the change. */
function withoutExits(drawing: Drawing, nodeId: string, old: readonly Exit[], gone: readonly Exit[]): Drawing {
  return withEdges(drawing, (edge) => {
    if (edge['source'] !== nodeId) return edge;
    const exit = exitOfEdge(edge, old);
    return exit !== undefined && gone.some(({ handle }) => handle === exit.handle) ? undefined : edge;
  });
}

/**
 * Changes the edges of a list item whose id has changed. Returns undefined unless exactly one item of the list has
 * another id than before.
 */
function followRenamed(after: Drawing, kind: NodeKind, from: DrawnNode, to: DrawnNode): Drawing | undefined {
  const field = kind.handles_from;
  if (field === undefined) return undefined;
  const idsOf = (node: DrawnNode) => asArray(dataOf(node)[field]).map(idOf);
  const [oldIds, nowIds] = [idsOf(from), idsOf(to)];
  const changed = oldIds.length === nowIds.length ? oldIds.flatMap((id, at) => (id === nowIds[at] ? [] : [at])) : [];
  const [at] = changed;
  if (changed.length !== 1 || at === undefined) return undefined;
  const targets = targetsIn(dataOf(to), { handle: null, label: '', path: [field, at, 'node'] });
  const isShared = nowIds.includes(oldIds[at]);
  return withEdges(after, (edge) => {
    if (edge['source'] !== to.id || edge['sourceHandle'] !== oldIds[at]) return edge;
    const isOwn = targets === undefined ? !isShared : targets.includes(String(edge['target']));
    return isOwn ? { ...edge, sourceHandle: nowIds[at] } : edge;
  });
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

/**
 * The limits of what a new list contains, because the schema of a stranger may demand any number of items. A list
 * within two other lists begins empty.
 */
const MOST_START_ITEMS = 20;
const MOST_START_LISTS = 2;

/**
 * Returns the minimal initial value of a form: the required fields and those with a `start`. `start` takes precedence
 * over `default`: new nodes get `start`, but a missing field in older drawings still means `default`. `lists` is the
 * number of lists around the value.
 */
export function startValue(schema: unknown, lists = 0): unknown {
  if (!isObject(schema)) return '';
  if (Object.hasOwn(schema, 'start')) return schema['start'];
  if (Object.hasOwn(schema, 'const')) return schema['const'];
  if (Object.hasOwn(schema, 'default')) {
    const value = structuredClone(schema['default']);
    return isObject(value) && holdsStart(schema) ? { ...startOfObject(schema, lists), ...value } : value;
  }
  const values = asArray(schema['enum']);
  if (values.length > 0) return values[0];
  const [variant] = asArray(schema['anyOf'] ?? schema['oneOf']);
  if (variant !== undefined) return startValue(variant, lists);
  return startOfType(schema, lists);
}

function startOfType(schema: JsonObject, lists: number): unknown {
  const [type] = asArray(Array.isArray(schema['type']) ? schema['type'] : [schema['type']]);
  switch (type) {
    case 'object':
      return startOfObject(schema, lists);
    case 'array':
      return Array.from({ length: startItems(schema, lists) }, () => startValue(schema['items'], lists + 1));
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return Number(schema['minimum'] ?? 0);
    case 'null':
      return null;
    default: {
      const [example] = asArray(schema['examples']);
      // The first example of a chat role is `system`, but people usually start with a message of the user.
      return asArray(schema['examples']).includes('user') ? 'user' : (example ?? '');
    }
  }
}

function startItems({ minItems }: JsonObject, lists: number): number {
  return lists < MOST_START_LISTS ? Math.min(Number(minItems ?? 0), MOST_START_ITEMS) : 0;
}

function startOfObject(schema: JsonObject, lists: number): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  // Fields that `else` requires are included, because the start values do not fulfil `if`: a new comparison has a
  // right side.
  const otherwise = isObject(schema['else']) ? schema['else']['required'] : [];
  const required = new Set([...asArray(schema['required']), ...asArray(otherwise)]);
  const initial = Object.entries(properties).filter(([key, property]) => required.has(key) || holdsStart(property));
  return Object.fromEntries(initial.map(([key, property]) => [key, startValue(property, lists)]));
}

function holdsStart(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { properties } = schema;
  return Object.hasOwn(schema, 'start') || (isObject(properties) && Object.values(properties).some(holdsStart));
}

const GAP = 60;
const ROW = 150;

/**
 * Returns a free position right of the selected node, else right of the last node, else in the middle of the view.
 * Moves down until no node overlaps.
 */
export function freePlace(drawing: Drawing, selected: ReadonlySet<string>, middle: Position): Position {
  const nodes = [...nodesOf(drawing).values()];
  const anchor = nodes.findLast(({ id }) => selected.has(id)) ?? nodes.at(-1);
  const from = anchor && positionOf(anchor);
  const x = from === undefined ? Math.round(middle.x - CARD_WIDTH / 2) : from.x + CARD_WIDTH + GAP;
  const inColumn = nodes.map(positionOf).filter((position) => Math.abs(position.x - x) < CARD_WIDTH + 16);
  let y = from === undefined ? Math.round(middle.y) : from.y;
  while (inColumn.some((position) => Math.abs(position.y - y) < ROW - 20)) y += ROW;
  return { x, y };
}

const GAPS = { nodesep: 40, ranksep: 72 };

/** Lays out the nodes from left to right in layers, on a grid of 10 pixels. Only positions change. */
export function tidyUp(drawing: Drawing, kinds: NodeKinds): Drawing {
  const sizes = new Map(
    [...nodesOf(drawing).values()].map((node) => {
      const height = cardHeight(offeredExits(kinds.get(typeOf(node)), dataOf(node)));
      return [node.id, { width: CARD_WIDTH, height }];
    }),
  );
  const places = layOut(sizes, linksOf(drawing, kinds), bodiesOf(drawing, kinds), GAPS);
  return moveNodes(drawing, new Map([...places].map(([id, { x, y }]) => [id, { x: round(x), y: round(y) }])));
}

function round(value: number): number {
  return Math.round(value / 10) * 10;
}

/** Returns a random UUID. Works over plain HTTP, where `crypto.randomUUID` is missing. */
export const newId: () => string = createIdempotencyKey;
