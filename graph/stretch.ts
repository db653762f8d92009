// A stretch is the part of a plan that one activity may walk through: the nodes with which the walk starts, and those
// that no node outside the stretch can make ready. The run workflow computes it, and the activity runs its own planner
// on it. This code is pure and is replayed, so a change of which nodes belong to a stretch needs `patched()`.
import { traitsOf, type NodeKind } from './kinds.js';
import type { Planner } from './planner.js';
import type { Plan } from './plan.js';

/** Decides which kinds of nodes an activity may walk on through (docs/adr/0011-one-walk.md). */
export type Stride = 'visible' | 'dense';

/** Node numbers are those of the scope's plan. */
export interface Stretch {
  /** The nodes with which the walk starts come first. */
  nodes: number[];
  /** The number of nodes with which the walk starts. Absent if it is one. */
  begins?: number;
  /** Other nodes to which a link has already been taken. Absent if there are none. */
  live?: number[];
  /** Set if no node outside the stretch is open, so the scope ends with these nodes. */
  isRest?: true;
}

/** Bounds the input of an activity. */
const MAX_NODES = 50;
/** Bounds the nodes that an activity executes in parallel: the death of a worker interrupts all of them. */
export const MAX_CONCURRENT = 10;

export function walksThrough(stride: Stride, kind: NodeKind): boolean {
  const { runs, isDense } = traitsOf(kind);
  return runs === 'inline' || (stride === 'dense' && isDense);
}

/**
 * True if `other` may be executed in parallel with `node` in one activity. Two inline nodes may; an inline node and one
 * that is not inline may not. Two nodes that are not inline may only if both lead to the same single node, which waits
 * for both, or to none: then the activity delays nothing that would otherwise start earlier.
 */
export function mayAccompany({ kinds, out, joinsAny = [] }: Plan, node: number, other: number): boolean {
  const [isInline, isOtherInline] = [node, other].map((each) => traitsOf(kinds[each]!).runs === 'inline');
  if (isInline || isOtherInline) return isInline === isOtherInline;
  const [ways, otherWays] = [out[node]!, out[other]!];
  const next = ways[0]?.[0];
  if (ways.length > 1 || otherWays.length !== ways.length || otherWays[0]?.[0] !== next) return false;
  return next === undefined || !joinsAny.includes(next);
}

/** True if an activity that starts with the node `first` may start with `other`, too. */
export function mayStartTogether(stride: Stride, plan: Plan, first: number, other: number): boolean {
  const areWalked = [first, other].every((node) => walksThrough(stride, plan.kinds[node]!));
  if (!areWalked || !mayAccompany(plan, first, other)) return false;
  const { takeWithin = {} } = plan;
  return isInPoolOf(plan, first, other) && takeWithin[first] === takeWithin[other];
}

/** True if the workers that execute `node` may also execute `other`. An inline node has no pool of its own. */
export function isInPoolOf({ kinds, pools }: Plan, node: number, other: number): boolean {
  return pools === undefined || traitsOf(kinds[other]!).runs === 'inline' || pools[node] === pools[other];
}

/** Returns the stretch of an activity that starts with `firsts`, which are already running. */
export function stretchFrom(plan: Plan, planner: Planner, firsts: readonly number[], stride: Stride): Stretch {
  const inPool = (node: number): boolean => isInPoolOf(plan, firsts[0]!, node);
  let nodes = enclosed(plan, planner, firsts, (node) => walksThrough(stride, plan.kinds[node]!) && inPool(node));
  // A decision may skip nodes that this activity must not execute. If all other open nodes depend on this stretch,
  // include them, so that this activity can end the scope.
  if (nodes.length < planner.open && nodes.some((node) => isDecision(plan, node))) {
    const all = enclosed(plan, planner, firsts, () => true);
    if (all.length === planner.open) nodes = all;
  }
  const live = nodes.slice(firsts.length).filter((node) => planner.isLinkTaken(node));
  return {
    nodes,
    ...(firsts.length > 1 && { begins: firsts.length }),
    ...(live.length > 0 && { live }),
    ...(nodes.length === planner.open && { isRest: true }),
  };
}

/**
 * Returns the stretch of an activity in another pool than the default one. The workers of such a pool decide nothing:
 * they execute only its nodes that make requests or run code, no inline nodes, and do not end the scope.
 */
export function stretchInPool(plan: Plan, planner: Planner, firsts: readonly number[], stride: Stride): Stretch {
  const mayEnter = (node: number): boolean => {
    const kind = plan.kinds[node]!;
    return traitsOf(kind).runs !== 'inline' && walksThrough(stride, kind) && isInPoolOf(plan, firsts[0]!, node);
  };
  const nodes = enclosed(plan, planner, firsts, mayEnter);
  const live = nodes.slice(firsts.length).filter((node) => planner.isLinkTaken(node));
  return { nodes, ...(firsts.length > 1 && { begins: firsts.length }), ...(live.length > 0 && { live }) };
}

/**
 * Returns `firsts`, and the nodes that `mayEnter` allows and whose open links all come from returned nodes; at most
 * `MAX_NODES` in all.
 */
function enclosed(
  { out }: Plan,
  planner: Planner,
  firsts: readonly number[],
  mayEnter: (node: number) => boolean,
): number[] {
  const nodes = [...firsts];
  const links = new Map<number, number>();
  // The list grows while it is iterated.
  for (const node of nodes) {
    for (const [to] of out[node]!) {
      const found = (links.get(to) ?? 0) + 1;
      links.set(to, found);
      if (found !== planner.linksAwaitedBy(to) || !mayEnter(to)) continue;
      if (nodes.length === MAX_NODES) return nodes;
      nodes.push(to);
    }
  }
  return nodes;
}

function isDecision({ kinds, caught }: Plan, node: number): boolean {
  const { handles, handlesFrom } = traitsOf(kinds[node]!);
  return handles.length > 0 || handlesFrom !== undefined || caught?.[node] !== undefined;
}
