// A stretch is the part of a plan that one activity may walk through: the nodes with which it begins, and those that no
// other node of the run can make ready. The run workflow computes it, and the activity decides on it with a planner of its
// own. This code is pure and is replayed, so a change of what belongs to a stretch needs `patched()`.
import { traitsOf, type NodeKind } from './kinds.js';
import type { Planner } from './planner.js';
import type { Plan } from './plan.js';

/** An activity may walk on through these nodes (docs/adr/0011-one-walk.md). */
export type Stride = 'visible' | 'dense';

/** Node numbers are those of the plan of the scope. */
export interface Stretch {
  /** The nodes with which the walk begins come first. */
  nodes: number[];
  /** The number of nodes with which the walk begins. Absent if it is one. */
  begins?: number;
  /** The other nodes to which a link has been taken already. Absent if there are none. */
  live?: number[];
  /** No other node of the scope is open: the scope has ended when all of these have. */
  isRest?: true;
}

/** This bounds the input of an activity. */
const MAX_NODES = 50;
/** The death of a worker interrupts all nodes that an activity executes at once. */
export const MAX_CONCURRENT = 10;

/** Returns whether an activity may walk on through a node of the kind. */
export function walksThrough(stride: Stride, kind: NodeKind): boolean {
  const { runs, isDense } = traitsOf(kind);
  return runs === 'inline' || (stride === 'dense' && isDense);
}

/**
 * Returns whether `other` may be executed beside `node` in one activity. Two nodes that only read and decide may, and one of
 * these beside one of another kind may not. Two others may if both lead to the same node and nowhere else: then nothing
 * that follows one of them waits for the other for longer than it would anyway.
 */
export function mayAccompany({ kinds, out, joinsAny = [] }: Plan, node: number, other: number): boolean {
  const [isInline, isOtherInline] = [node, other].map((each) => traitsOf(kinds[each]!).runs === 'inline');
  if (isInline || isOtherInline) return isInline === isOtherInline;
  const [ways, otherWays] = [out[node]!, out[other]!];
  const next = ways[0]?.[0];
  if (ways.length > 1 || otherWays.length !== ways.length || otherWays[0]?.[0] !== next) return false;
  return next === undefined || !joinsAny.includes(next);
}

/** Returns whether an activity that begins with the node `first` may begin with `other`, too. */
export function mayBeginTogether(stride: Stride, plan: Plan, first: number, other: number): boolean {
  const areWalked = [first, other].every((node) => walksThrough(stride, plan.kinds[node]!));
  return areWalked && mayAccompany(plan, first, other);
}

/** Returns the stretch of an activity that begins with `firsts`, which are running. */
export function stretchFrom(plan: Plan, planner: Planner, firsts: readonly number[], stride: Stride): Stretch {
  let nodes = enclosed(plan, planner, firsts, (kind) => walksThrough(stride, kind));
  // A decision may skip nodes that this activity must not execute. If there are no others, the scope ends in this activity.
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

/** Returns `firsts` and the nodes all of whose open links come from nodes that are returned. */
function enclosed(
  { out, kinds }: Plan,
  planner: Planner,
  firsts: readonly number[],
  mayEnter: (kind: NodeKind) => boolean,
): number[] {
  const nodes = [...firsts];
  const links = new Map<number, number>();
  // The list grows while it is iterated.
  for (const node of nodes) {
    for (const [to] of out[node]!) {
      const found = (links.get(to) ?? 0) + 1;
      links.set(to, found);
      if (found !== planner.linksAwaitedBy(to) || !mayEnter(kinds[to]!)) continue;
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
