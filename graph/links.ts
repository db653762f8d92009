// Decides which node follows which. A link in a node's own data takes precedence over the drawn edges.
import { isObject, ownValue, type JsonObject } from './json.js';
import { traitsOf, type NodeKind } from './kinds.js';
import { ERROR_HANDLE, FIRST_LISTED_HANDLE, MAX_LISTED_HANDLES, type Handle } from './plan.js';

export interface Link {
  to: string;
  handle: Handle;
}

/** A link as drawn. Its target is unchecked and may be any value. */
export interface RawLink {
  to: unknown;
  handle: Handle;
}

export type EdgesBySource = ReadonlyMap<unknown, JsonObject[]>;

export function groupEdges(edges: unknown): EdgesBySource {
  const groups = new Map<unknown, JsonObject[]>();
  if (!Array.isArray(edges)) return groups;
  for (const edge of edges) {
    if (!isObject(edge)) continue;
    const group = groups.get(edge['source']);
    if (group) group.push(edge);
    else groups.set(edge['source'], [edge]);
  }
  return groups;
}

/** A handle of a node, with its possible targets. */
interface Exit {
  handle: Handle;
  /** The `sourceHandle` of its drawn edges. Undefined for the ordinary links. */
  edge: string | undefined;
  /** The targets in the node's own data, unchecked. */
  inData: unknown;
}

/** The `sourceHandle` of the edge that is taken after a failure; `ERROR_FIELD` names the field with its target. */
const ERROR_EDGE = 'error';
export const ERROR_FIELD = 'error_node';

/** Returns the exits in the order of their handles. */
export function exitsOf(kind: NodeKind, data: JsonObject): Exit[] {
  const { handles, handlesFrom, isListOptional = false, isLeftByNext = false } = traitsOf(kind);
  const exits: Exit[] = handles.map(({ field, edge }, index) => ({
    handle: index + 1,
    edge,
    inData: ownValue(data, field),
  }));
  const list = handlesFrom === undefined ? undefined : ownValue(data, handlesFrom);
  exits.push(...listedExits(list));
  const isUnlisted = isListOptional && (list ?? null) === null;
  if (isLeftByNext || isUnlisted || (handles.length === 0 && handlesFrom === undefined)) {
    exits.unshift({ handle: 0, edge: undefined, inData: ownValue(data, 'next_nodes') });
  }
  if (ownValue(data, 'on_error') === 'branch') {
    exits.push({ handle: ERROR_HANDLE, edge: ERROR_EDGE, inData: ownValue(data, ERROR_FIELD) });
  }
  return exits;
}

/** Skips invalid items and those over the limit, which the kind's schema reports. */
function listedExits(items: unknown): Exit[] {
  if (!Array.isArray(items)) return [];
  return items.slice(0, MAX_LISTED_HANDLES).flatMap((item: unknown, index) => {
    if (!isObject(item) || typeof item['id'] !== 'string') return [];
    return { handle: FIRST_LISTED_HANDLE + index, edge: item['id'], inData: ownValue(item, 'node') };
  });
}

/**
 * Returns the links of an exit in the node's data, or undefined if its field is absent, null or an empty text. An empty
 * list means that the exit has no links.
 */
export function linksInData({ handle, inData }: Exit): RawLink[] | undefined {
  if (inData === undefined || inData === null || inData === '') return undefined;
  return (Array.isArray(inData) ? inData : [inData]).map((to: unknown) => ({ to, handle }));
}

/**
 * Returns the drawn links of an exit. An edge whose `sourceHandle` matches no exit of the node counts as an ordinary
 * link, except for an error edge, which is ignored without an error exit.
 */
export function linksInEdges(exit: Exit, exits: readonly Exit[], edges: readonly JsonObject[]): RawLink[] {
  const named = new Set<unknown>([ERROR_EDGE, ...exits.flatMap(({ edge }) => edge ?? [])]);
  const leaving = edges.filter(({ sourceHandle }) =>
    exit.edge === undefined ? !named.has(sourceHandle) : sourceHandle === exit.edge,
  );
  return leaving.map((edge) => ({ to: edge['target'], handle: exit.handle }));
}

/** Returns the links to execute, without duplicates, in the order of the node's exits. */
export function resolveLinks(kind: NodeKind, data: JsonObject, edges: readonly JsonObject[]): RawLink[] {
  const exits = exitsOf(kind, data);
  return exits.flatMap((exit) => {
    const links = linksInData(exit) ?? linksInEdges(exit, exits, edges);
    const targets = new Set(links.map(({ to }) => to));
    return [...targets].map((to) => ({ to, handle: exit.handle }));
  });
}
