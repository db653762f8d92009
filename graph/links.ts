// Which node follows which, by the two ways a drawing says so (decisions, section 4): a node's own data is what runs;
// where it is silent, the drawn edges serve.
import { isObject, ownValue, type JsonObject } from './json.js';
import type { Branch, NodeKind } from './plan.js';

export interface Link {
  to: string;
  branch: Branch;
}

/** A link as the drawing has it: what should be an id may be anything. */
export interface RawLink {
  to: unknown;
  branch: Branch;
}

/** The drawn edges by the id of their source. */
export type EdgesBySource = ReadonlyMap<unknown, JsonObject[]>;

const BRANCH_HANDLES: readonly unknown[] = [undefined, 'condition-true', 'condition-false'];

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

/** The branches that a node of this kind can take. */
export function branchesOf(kind: NodeKind): readonly Branch[] {
  return kind === 'condition' ? [1, 2] : [0];
}

/** What the node's own data says of one branch; undefined where it says nothing (absent, null or an empty string). */
export function linksInData(data: JsonObject, branch: Branch): RawLink[] | undefined {
  const value = ownValue(data, fieldOf(branch));
  if (value === undefined || value === null || value === '') return undefined;
  return (Array.isArray(value) ? value : [value]).map((to: unknown) => ({ to, branch }));
}

function fieldOf(branch: Branch): string {
  if (branch === 0) return 'next_nodes';
  return branch === 1 ? 'true_node' : 'false_node';
}

/** What the drawn edges say of one branch. An edge that leaves a condition by no known handle belongs to no branch. */
export function linksInEdges(edges: readonly JsonObject[], branch: Branch): RawLink[] {
  const ofBranch = branch === 0 ? edges : edges.filter((edge) => edge['sourceHandle'] === BRANCH_HANDLES[branch]);
  return ofBranch.map((edge) => ({ to: edge['target'], branch }));
}

/** The links that run, without repeats, the true branch of a condition first. */
export function resolveLinks(kind: NodeKind, data: JsonObject, edges: readonly JsonObject[]): RawLink[] {
  return branchesOf(kind).flatMap((branch) => {
    const targets = new Set((linksInData(data, branch) ?? linksInEdges(edges, branch)).map(({ to }) => to));
    return [...targets].map((to) => ({ to, branch }));
  });
}
