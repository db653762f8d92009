// Decides which node follows which. A node's own data takes precedence. Where it is not set, the drawn edges count.
import { isObject, ownValue, type JsonObject } from './json.js';
import { traitsOf, type NodeKind } from './kinds.js';
import type { Handle } from './plan.js';

export interface Link {
  to: string;
  handle: Handle;
}

/** A link as drawn. Its target is unchecked and may be any value. */
export interface RawLink {
  to: unknown;
  handle: Handle;
}

/** The drawn edges by the id of their source. */
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

/** Returns the handles by which a node of this kind can be left. */
export function handlesOf(kind: NodeKind): readonly Handle[] {
  const { handles } = traitsOf(kind);
  return handles.length === 0 ? [0] : handles.map((_, index) => index + 1);
}

/**
 * Returns the links of one handle in the node's own data; undefined where they are not set (absent, null or an empty
 * string).
 */
export function linksInData(kind: NodeKind, data: JsonObject, handle: Handle): RawLink[] | undefined {
  const field = handle === 0 ? 'next_nodes' : traitsOf(kind).handles[handle - 1]!.field;
  const value = ownValue(data, field);
  if (value === undefined || value === null || value === '') return undefined;
  return (Array.isArray(value) ? value : [value]).map((to: unknown) => ({ to, handle }));
}

/** Returns the drawn links of one handle. An edge whose handle the kind does not have belongs to no handle. */
export function linksInEdges(kind: NodeKind, edges: readonly JsonObject[], handle: Handle): RawLink[] {
  const name = handle === 0 ? undefined : traitsOf(kind).handles[handle - 1]!.edge;
  const leaving = name === undefined ? edges : edges.filter((edge) => edge['sourceHandle'] === name);
  return leaving.map((edge) => ({ to: edge['target'], handle }));
}

/** Returns the links that are executed, without duplicates, in the order of the kind's handles. */
export function resolveLinks(kind: NodeKind, data: JsonObject, edges: readonly JsonObject[]): RawLink[] {
  return handlesOf(kind).flatMap((handle) => {
    const links = linksInData(kind, data, handle) ?? linksInEdges(kind, edges, handle);
    const targets = new Set(links.map(({ to }) => to));
    return [...targets].map((to) => ({ to, handle }));
  });
}
