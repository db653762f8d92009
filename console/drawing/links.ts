// The links of a drawing as a run follows them: from the nodes' data, else from the drawn edges. Edges that do not run
// are included as idle, because people see them in other editors.
import { dataOf, nodesOf, typeOf, type Drawing, type DrawnNode, type NodeKind, type NodeKinds } from './drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { pushTo } from '../../graph/push-to.js';
import { asArray, asObject, asText } from '../ui/json.js';

export interface Link {
  /** Unique in the drawing, and stable as long as source, handle and target are. */
  id: string;
  source: string;
  handle: string | null;
  target: string;
  /** True if the link is drawn but does not run: its node lacks the exit, or the data has other targets or none. */
  isIdle: boolean;
}

function linkId(source: string, handle: string | null, target: string): string {
  return JSON.stringify([source, handle, target]);
}

interface Known {
  kinds: NodeKinds;
  links: readonly Link[];
}

const known = new WeakMap<Drawing, Known>();

/** Returns the links without duplicates, restricted to existing nodes. */
export function linksOf(drawing: Drawing, kinds: NodeKinds): readonly Link[] {
  const last = known.get(drawing);
  if (last?.kinds === kinds) return last.links;
  const nodes = nodesOf(drawing);
  const edges = edgesBySource(drawing['edges']);
  const links: Link[] = [];
  for (const node of nodes.values()) {
    for (const link of linksFrom(node, edges.get(node.id), kinds)) if (nodes.has(link.target)) links.push(link);
  }
  known.set(drawing, { kinds, links });
  return links;
}

interface KnownOfNode extends Known {
  edges: readonly JsonObject[] | undefined;
}

// Cached per node, because most changes leave most nodes and their edges unchanged.
const knownOfNodes = new WeakMap<DrawnNode, KnownOfNode>();

function linksFrom(node: DrawnNode, edges: readonly JsonObject[] | undefined, kinds: NodeKinds): readonly Link[] {
  const last = knownOfNodes.get(node);
  if (last !== undefined && last.kinds === kinds && last.edges === edges) return last.links;
  const links = new Map<string, Link>();
  const add = (source: string, handle: string | null, target: string, isIdle: boolean): void => {
    const id = linkId(source, handle, target);
    if (!links.has(id)) links.set(id, { id, source, handle, target, isIdle });
  };
  const exits = exitsOf(kinds.get(typeOf(node)), dataOf(node));
  for (const exit of exits) {
    for (const target of targetsIn(dataOf(node), exit) ?? []) add(node.id, exit.handle, target, false);
  }
  for (const edge of edges ?? []) addEdge(edge, exits, node, add);
  const found = { kinds, edges, links: [...links.values()] };
  knownOfNodes.set(node, found);
  return found.links;
}

function addEdge(
  edge: JsonObject,
  exits: readonly Exit[],
  node: { id: string } & JsonObject,
  add: (source: string, handle: string | null, target: string, isIdle: boolean) => void,
): void {
  const target = asText(edge['target']);
  const exit = exitOfEdge(edge, exits);
  if (target === undefined) return;
  // An edge that belongs to no exit does not run.
  if (exit === undefined) add(node.id, asText(edge['sourceHandle']) ?? null, target, true);
  else add(node.id, exit.handle, target, targetsIn(dataOf(node), exit) !== undefined);
}

/**
 * Returns the exit that a run uses for an edge: the named exit, else the ordinary one. An `error` edge never uses
 * the ordinary exit.
 */
export function exitOfEdge(edge: JsonObject, exits: readonly Exit[]): Exit | undefined {
  const { sourceHandle } = edge;
  const named = exits.find(({ handle }) => handle !== null && handle === sourceHandle);
  return named ?? (sourceHandle === 'error' ? undefined : exits.find(({ handle }) => handle === null));
}

const grouped = new WeakMap<object, ReadonlyMap<unknown, JsonObject[]>>();

function edgesBySource(edges: unknown): ReadonlyMap<unknown, JsonObject[]> {
  // Drawings without edges share one entry; any permanent object serves as its key.
  const owner = Array.isArray(edges) ? (edges as object) : grouped;
  const last = grouped.get(owner);
  if (last !== undefined) return last;
  const groups = new Map<unknown, JsonObject[]>();
  for (const edge of asArray(edges)) {
    if (!isObject(edge)) continue;
    const group = groups.get(edge['source']);
    if (group) group.push(edge);
    else groups.set(edge['source'], [edge]);
  }
  grouped.set(owner, groups);
  return groups;
}

/**
 * True if running links lead from `from` to `to`. A link from `to` to `from` would then close a cycle,
 * which cannot run.
 */
export function reaches(links: readonly Link[], from: string, to: string): boolean {
  const next = new Map<string, string[]>();
  for (const { source, target, isIdle } of links) if (!isIdle) pushTo(next, source, target);
  const seen = new Set([from]);
  for (const id of seen) {
    if (id === to) return true;
    for (const target of next.get(id) ?? []) seen.add(target);
  }
  return false;
}

/** Returns the nodes from which running links lead to node `id`, nearest first, including the loops around it. */
export function before(links: readonly Link[], id: string): string[] {
  const sources = new Map<string, string[]>();
  for (const { source, target, isIdle } of links) {
    if (!isIdle) pushTo(sources, target, source);
  }
  const seen = new Set([id]);
  for (const each of seen) for (const source of sources.get(each) ?? []) seen.add(source);
  seen.delete(id);
  return [...seen];
}

// The exits of a node. The node's data may list the targets of each exit, at the exit's `path`.

export interface Exit {
  /** The `sourceHandle` of its edges; null for the ordinary exit. */
  handle: string | null;
  /** Empty for the ordinary exit. */
  label: string;
  /** Path of the targets in the node's data. */
  path: readonly (string | number)[];
}

const ORDINARY: Exit = { handle: null, label: '', path: ['next_nodes'] };

/** The exit after a failure that the run survives. */
const AFTER_FAILURE: Exit = { handle: 'error', label: 'Failed', path: ['error_node'] };

/** Returns the exits of a node. Unknown kinds have the ordinary exit. */
export function exitsOf(kind: NodeKind | undefined, data: JsonObject): readonly Exit[] {
  const exits = exitsOfKind(kind, data);
  return data['on_error'] === 'branch' ? [...exits, AFTER_FAILURE] : exits;
}

function exitsOfKind(kind: NodeKind | undefined, data: JsonObject): readonly Exit[] {
  if (kind === undefined) return [ORDINARY];
  const named = kind.handles.map(({ id, label, field }) => ({ handle: id, label, path: [field] }));
  const listed = kind.handles_from === undefined ? [] : exitsFrom(kind.handles_from, data);
  const exits: Exit[] = [...listed, ...named];
  const isUnlisted = kind.is_list_optional === true && (data[kind.handles_from!] ?? null) === null;
  return exits.length === 0 || isUnlisted || kind.has_next_nodes === true ? [ORDINARY, ...exits] : exits;
}

/** Returns the exits without those that are never taken while other fields of the node have their present values. */
export function offeredExits(kind: NodeKind | undefined, data: JsonObject): readonly Exit[] {
  const exits = exitsOf(kind, data);
  const dead = kind?.handles.filter(({ when = {} }) => {
    return !Object.entries(when).every(([key, value]) => (data[key] ?? defaultOf(kind, key)) === value);
  });
  if (dead === undefined || dead.length === 0) return exits;
  return exits.filter(({ handle }) => !dead.some(({ id }) => id === handle));
}

function defaultOf({ schema }: NodeKind, key: string): unknown {
  return asObject(asObject(schema['properties'])[key])['default'];
}

function exitsFrom(field: string, data: JsonObject): Exit[] {
  return asArray(data[field]).flatMap((item, index) => {
    const id = isObject(item) ? asText(item['id']) : undefined;
    if (id === undefined || id === '') return [];
    const label = asText((item as JsonObject)['label']) ?? '';
    return [{ handle: id, label: label.trim() === '' ? id : label, path: [field, index, 'node'] }];
  });
}

/**
 * Returns the targets of an exit in the data. Returns undefined if their field is absent, null or an empty text, in
 * which case the drawn edges run. With an empty list, none of them runs.
 */
export function targetsIn(data: JsonObject, { path }: Exit): string[] | undefined {
  const value = valueAt(data, path);
  if (value === undefined || value === null || value === '') return undefined;
  return asArray(Array.isArray(value) ? value : [value]).filter((id): id is string => typeof id === 'string');
}

/**
 * Returns the data with other targets. An ordinary exit stores a list; a named one stores one id or null, or a list if
 * it has several or already stores a list.
 */
export function withTargets(data: JsonObject, exit: Exit, targets: readonly string[]): JsonObject {
  const list = exit.handle === null || Array.isArray(valueAt(data, exit.path));
  const single = targets.length > 1 ? [...targets] : (targets[0] ?? null);
  return setAt(data, exit.path, list ? [...targets] : single) as JsonObject;
}

/** Reads own properties only. Returns undefined if the path does not exist. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value;
  for (const part of path) {
    current =
      typeof current === 'object' && current !== null
        ? Object.getOwnPropertyDescriptor(current, part)?.value
        : undefined;
  }
  return current;
}

/** Returns a copy with another value at the path; creates missing parts. */
export function setAt(value: unknown, path: readonly (string | number)[], part: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return part;
  if (typeof first === 'number') {
    const items = [...asArray(value)];
    items[first] = setAt(items[first], rest, part);
    return items;
  }
  const owner = isObject(value) ? value : {};
  return { ...owner, [first]: setAt(Object.hasOwn(owner, first) ? owner[first] : undefined, rest, part) };
}
