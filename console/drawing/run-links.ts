// Reads the links of a run's drawing without knowing the kinds of nodes.
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { pushTo } from '../../graph/push-to.js';
import { objectsOf } from '../ui/json.js';

export interface RunLink {
  from: string;
  to: string;
  /** The node's exit, such as `true`, `error` or the id of a case; empty for the ordinary exit. */
  handle: string;
}

export interface RunLinks {
  start: string | undefined;
  links: readonly RunLink[];
  incoming: ReadonlyMap<string, readonly RunLink[]>;
  /** Ids of all nodes in topological order. */
  order: readonly string[];
}

/** Field of a node's data that names one next node or lists several: `true_node`, `error_node`. */
const FIELD = /^(.+)_node$/;
/** Lists in a node's data whose items have targets. */
const LISTS = ['cases', 'actions'];

/** The node's data takes precedence over the drawn edges, as in the service. */
export function readLinks(drawing: JsonObject): RunLinks {
  const nodes = objectsOf(drawing['nodes']).filter((node) => typeof node['id'] === 'string');
  const ids = new Set(nodes.map(({ id }) => id as string));
  const edges = groupBy(objectsOf(drawing['edges']), (edge) => edge['source']);
  const links = nodes.flatMap((node) => linksOf(node, edges.get(node['id']) ?? []));
  const known = dedupe(links.filter(({ to }) => ids.has(to)));
  const incoming = groupBy(known, ({ to }) => to);
  const start = typeof drawing['start_node'] === 'string' ? drawing['start_node'] : undefined;
  return { start, links: known, incoming, order: orderOf([...ids], known) };
}

function linksOf(node: JsonObject, edges: readonly JsonObject[]): RunLink[] {
  const from = node['id'] as string;
  const data = isObject(node['data']) ? node['data'] : {};
  const own = ownLinks(data);
  const drawn = edges.map((edge) => ({ to: edge['target'], handle: runHandleOf(edge['sourceHandle']) }));
  const hasBranches = own.some(({ handle }) => handle !== '') || drawn.some(({ handle }) => isBranch(handle, data));
  const all = drawn
    .map(({ to, handle }) => ({ to, handle: hasBranches || isBranch(handle, data) ? handle : '' }))
    .filter(({ handle }) => own.every((link) => link.handle !== handle));
  return [...own, ...all].flatMap(({ to, handle }) => (typeof to === 'string' ? [{ from, to, handle }] : []));
}

/**
 * Returns the links in a node's data. An empty list gives an entry without a target: no node then follows that exit,
 * even if an edge is drawn.
 */
function ownLinks(data: JsonObject): { to: unknown; handle: string }[] {
  const links: { to: unknown; handle: string }[] = [];
  const next = ownValue(data, 'next_nodes');
  if (Array.isArray(next)) links.push(...targetsOf(next, ''));
  for (const [key, to] of Object.entries(data)) {
    const handle = FIELD.exec(key)?.[1];
    if (handle !== undefined) links.push(...targetsOf(to, handle));
  }
  for (const item of LISTS.flatMap((list) => objectsOf(ownValue(data, list)))) {
    const { id, node } = item;
    if (typeof id === 'string') links.push(...targetsOf(node, id));
  }
  return links;
}

function targetsOf(value: unknown, handle: string): { to: unknown; handle: string }[] {
  if (Array.isArray(value)) return value.length === 0 ? [{ to: null, handle }] : value.map((to) => ({ to, handle }));
  return typeof value === 'string' && value !== '' ? [{ to: value, handle }] : [];
}

/** Editors write `condition-true` for the branch `true`. */
export function runHandleOf(sourceHandle: unknown): string {
  return typeof sourceHandle === 'string' ? sourceHandle.replace(/^condition-/, '') : '';
}

/** Handles that are read as named exits, whatever kind the node is. */
const NAMED = ['true', 'false', 'error', 'body', 'timeout'];

/** Some editors also write a `sourceHandle` for a node's only exit, which is not a branch. */
function isBranch(handle: string, data: JsonObject): boolean {
  if (NAMED.includes(handle)) return true;
  return Object.hasOwn(data, `${handle}_node`) || LISTS.some((list) => Array.isArray(ownValue(data, list)));
}

function dedupe(links: readonly RunLink[]): RunLink[] {
  const byName = new Map(links.map((link) => [JSON.stringify([link.from, link.to, link.handle]), link]));
  return [...byName.values()];
}

/** Kahn's algorithm. Nodes in a cycle, and those after one, come last. */
function orderOf(ids: readonly string[], links: readonly RunLink[]): string[] {
  const outgoing = groupBy(links, ({ from }) => from);
  const missing = new Map(ids.map((id) => [id, 0]));
  for (const { to } of links) missing.set(to, missing.get(to)! + 1);
  const order = ids.filter((id) => missing.get(id) === 0);
  for (let index = 0; index < order.length; index += 1) {
    for (const { to } of outgoing.get(order[index]!) ?? []) {
      const left = missing.get(to)! - 1;
      missing.set(to, left);
      if (left === 0) order.push(to);
    }
  }
  const seen = new Set(order);
  return [...order, ...ids.filter((id) => !seen.has(id))];
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) pushTo(groups, keyOf(item), item);
  return groups;
}

/** Fields that the editor itself writes into the data of new nodes, beside those of the kind. */
const NAMES = ['id', 'name', 'label', 'version', 'next_nodes'];

/** Returns the data of a node without the fields in `NAMES` and without the targets of its exits. */
export function withoutLinks(data: JsonObject): JsonObject {
  const own = Object.entries(data).filter(([key, value]) => !NAMES.includes(key) && !isTarget(key, value));
  return Object.fromEntries(
    own.map(([key, value]) => [key, LISTS.includes(key) && Array.isArray(value) ? value.map(withoutTarget) : value]),
  );
}

function isTarget(key: string, value: unknown): boolean {
  return FIELD.test(key) && (value === null || typeof value === 'string' || Array.isArray(value));
}

function withoutTarget(item: unknown): unknown {
  if (!isObject(item)) return item;
  const { node: _target, ...rest } = item;
  return rest;
}

/** Returns the labels of a run's nodes by their ids. */
export function runLabels(drawing: JsonObject): ReadonlyMap<string, string> {
  return new Map(objectsOf(drawing['nodes']).map((node) => [String(node['id']), runLabelOf(node)]));
}

/** Returns the label of a node, or its id if it has no label. */
export function runLabelOf(node: JsonObject): string {
  const label = ownValue(node['data'], 'label');
  return typeof label === 'string' && label.trim() !== '' ? label : String(node['id']);
}
