// Separates the links of a node from the rest of its data, and names them by exit: a handle with its targets. The
// ordinary exit is named `next`; the others are named like the `sourceHandle` of their edges.
import { isObject, ownValue, type JsonObject } from '../json.js';
import { traitsOf, type NodeKind } from '../kinds.js';
import { ERROR_FIELD, exitsOf, linksInData, linksInEdges } from '../links.js';

export const ORDINARY_EXIT = 'next';

/** The targets of each exit that has links, in the order of the exits. */
export type NamedLinks = Map<string, string[]>;

/**
 * Returns the names of all exits of a node, including those without a link. `kind` is undefined for an unknown type.
 */
export function exitNamesOf(kind: NodeKind | undefined, data: JsonObject): string[] {
  return exits(kind, data).map(nameOf);
}

/**
 * Returns the links that a run would follow, without duplicates. Leaves out targets that are not strings, but keeps ids
 * of nodes that do not exist.
 */
export function namedLinksOf(kind: NodeKind | undefined, data: JsonObject, edges: readonly JsonObject[]): NamedLinks {
  const all = exits(kind, data);
  const named: NamedLinks = new Map();
  for (const exit of all) {
    const links = linksInData(exit) ?? linksInEdges(exit, all, edges);
    const targets = new Set(links.map(({ to }) => to).filter((to) => typeof to === 'string'));
    if (targets.size > 0) named.set(nameOf(exit), [...targets]);
  }
  return named;
}

/** Returns the data without the fields that hold links. */
export function withoutLinks(kind: NodeKind | undefined, data: JsonObject): JsonObject {
  const fields = linkFieldsOf(kind);
  const rest = Object.fromEntries(Object.entries(data).filter(([key]) => !fields.has(key)));
  const list = listFieldOf(kind);
  const items = list === undefined ? undefined : ownValue(rest, list);
  if (list === undefined || !Array.isArray(items)) return rest;
  const plain = items.map((item: unknown) => (isObject(item) ? withoutKey(item, LIST_TARGET) : item));
  return { ...rest, [list]: plain };
}

/**
 * Returns the data with these links in the fields of its exits. Links of exits that the node does not have are left
 * out.
 */
export function withLinks(kind: NodeKind | undefined, data: JsonObject, links: NamedLinks): JsonObject {
  const linked = withoutLinks(kind, data);
  const list = listFieldOf(kind);
  const handles = kind === undefined ? [] : traitsOf(kind).handles;
  const names = new Set(exitNamesOf(kind, linked));
  if (exits(kind, linked).some(({ edge }) => edge === undefined)) {
    linked['next_nodes'] = links.get(ORDINARY_EXIT) ?? [];
  }
  for (const { field, edge } of handles) linked[field] = oneOrMore(links.get(edge));
  const items = list === undefined ? undefined : linked[list];
  if (list !== undefined && Array.isArray(items)) {
    linked[list] = items.map((item: unknown) => {
      const id = isObject(item) ? item['id'] : undefined;
      return isObject(item) && typeof id === 'string' ? { ...item, [LIST_TARGET]: oneOrMore(links.get(id)) } : item;
    });
  }
  if (names.has(ERROR_EXIT)) linked[ERROR_FIELD] = oneOrMore(links.get(ERROR_EXIT));
  return linked;
}

/** Returns the path inside `data`, as a JSON Pointer, of a field that holds links; undefined if there is none. */
export function findLinkField(kind: NodeKind | undefined, data: JsonObject): string | undefined {
  const fields = linkFieldsOf(kind);
  const own = Object.keys(data).find((key) => fields.has(key));
  if (own !== undefined) return `/${own}`;
  const list = listFieldOf(kind);
  const items = list === undefined ? undefined : ownValue(data, list);
  if (!Array.isArray(items)) return undefined;
  const index = items.findIndex((item: unknown) => isObject(item) && Object.hasOwn(item, LIST_TARGET));
  return index < 0 ? undefined : `/${list}/${index}/${LIST_TARGET}`;
}

/** The `sourceHandle` of an exit with this name. */
export function sourceHandleOf(exit: string): string | undefined {
  return exit === ORDINARY_EXIT ? undefined : exit;
}

const ERROR_EXIT = 'error';
/** The field of an item of `cases` or `actions` that holds its target. */
const LIST_TARGET = 'node';

type Exit = ReturnType<typeof exitsOf>[number];

function exits(kind: NodeKind | undefined, data: JsonObject): Exit[] {
  if (kind !== undefined) return exitsOf(kind, data);
  return [{ handle: 0, edge: undefined, inData: ownValue(data, 'next_nodes') }];
}

function nameOf({ edge }: Exit): string {
  return edge ?? ORDINARY_EXIT;
}

function linkFieldsOf(kind: NodeKind | undefined): Set<string> {
  const handles = kind === undefined ? [] : traitsOf(kind).handles;
  return new Set(['next_nodes', ERROR_FIELD, ...handles.map(({ field }) => field)]);
}

function listFieldOf(kind: NodeKind | undefined): string | undefined {
  return kind === undefined ? undefined : traitsOf(kind).handlesFrom;
}

function withoutKey(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([own]) => own !== key));
}

function oneOrMore(targets: readonly string[] = []): string | string[] | null {
  return targets.length > 1 ? [...targets] : (targets[0] ?? null);
}
