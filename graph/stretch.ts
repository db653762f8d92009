// A stretch is the part of a plan that one activity may walk through: the nodes with which it begins, and those that no
// other node of the run can make ready. The run workflow computes it, and the activity decides on it with a planner of its
// own. This code is pure and is replayed, so a change of what belongs to a stretch needs `patched()`.
import { traitsOf, type NodeKind } from './kinds.js';
import { NodeState, Planner } from './planner.js';
import type { Handle, Plan } from './plan.js';

/** Which nodes an activity may walk on through (docs/adr/0011-one-walk.md). */
export type Stride = 'visible' | 'dense';

/** Node numbers are those of the plan of the scope. */
export interface Stretch {
  /** The nodes with which the walk begins come first. */
  nodes: number[];
  /** How many of them the walk begins with. Absent for one. */
  begins?: number;
  /** Those of the others to which a link has been taken already. Absent where there are none. */
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
 * Returns whether `other` may be executed beside `node` in one activity. Nodes that only read and decide always may. Others
 * may if both lead to the same node and nowhere else: then nothing that follows one of them waits for the other for
 * longer than it would anyway.
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
  // Behind a decision, nodes that the activity may not execute may turn out to be skipped, and the scope ends with it.
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

/** The part of the plan that is the stretch. Its nodes are numbered by their places in it. */
export class StretchPlan {
  readonly plan: Plan;
  readonly planner: Planner;
  readonly #whole: Plan;
  readonly #numbers: readonly number[];
  /** Whether a link leads from the node to one outside the stretch. */
  readonly #leadsOut: readonly boolean[];

  constructor(whole: Plan, { nodes, begins = 1, live = [] }: Stretch) {
    const places = new Map(nodes.map((node, place) => [node, place]));
    const toPlaces = (numbers: readonly number[] = []): number[] =>
      numbers.flatMap((number) => places.get(number) ?? []);
    const out = nodes.map((node) =>
      whole.out[node]!.flatMap(([to, handle]): [number, Handle][] => {
        const place = places.get(to);
        return place === undefined ? [] : [[place, handle]];
      }),
    );
    const unsettled = nodes.map(() => 0);
    for (const [to] of out.flat()) unsettled[to]!++;
    const caught = nodes.flatMap((node, place) => {
      const handle = whole.caught?.[node];
      return handle === undefined ? [] : [[place, handle] as const];
    });
    this.#whole = whole;
    this.#numbers = nodes;
    this.#leadsOut = nodes.map((node, place) => whole.out[node]!.length > out[place]!.length);
    this.plan = {
      ids: nodes.map((node) => whole.ids[node]!),
      kinds: nodes.map((node) => whole.kinds[node]!),
      labels: nodes.map((node) => whole.labels[node]!),
      out,
      indegree: unsettled,
      caught: Object.fromEntries(caught),
      joinsAny: toPlaces(whole.joinsAny),
    };
    const alive = new Set(toPlaces(live));
    this.planner = new Planner(this.plan, {
      states: nodes.map((_, place) => (place < begins ? NodeState.ready : NodeState.waiting)).join(''),
      unsettled,
      live: nodes.map((_, place) => (alive.has(place) ? 1 : 0)),
      queue: Array.from({ length: begins }, (_, place) => place),
    });
  }

  /** Returns the node's number in the plan of the scope. */
  numberOf(place: number): number {
    return this.#numbers[place]!;
  }

  /**
   * Returns the ready nodes that the walk executes next, side by side. None where the run workflow has to decide. Where it
   * has to be told something first (`hasNews`), nothing begins that leaves the process: that may take long.
   */
  next(stride: Stride, hasNews = false): number[] {
    const ready = this.planner.ready();
    const inline = ready.filter((place) => traitsOf(this.plan.kinds[place]!).runs === 'inline');
    if (inline.length > 0) return inline.slice(0, MAX_CONCURRENT);
    if (hasNews || this.#isNewsForOthers() || !ready.every((place) => walksThrough(stride, this.plan.kinds[place]!))) {
      return [];
    }
    const [first, ...others] = ready.map((place) => this.numberOf(place));
    const areTogether = first === undefined || others.every((other) => mayAccompany(this.#whole, first, other));
    return areTogether ? ready.slice(0, MAX_CONCURRENT) : [];
  }

  /** Whether a node outside of the stretch has learnt of the end of one inside: a link to it has been taken, or never will be. */
  #isNewsForOthers(): boolean {
    return this.#leadsOut.some((leadsOut, place) => leadsOut && this.planner.hasSettled(place));
  }
}
