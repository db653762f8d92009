// The plan with which an activity decides its walk: the part of its scope's plan that is its stretch.
import { traitsOf } from './kinds.js';
import type { Handle, Plan } from './plan.js';
import { NodeState, Planner } from './planner.js';
import { isInPoolOf, mayAccompany, MAX_CONCURRENT, walksThrough, type Stretch, type Stride } from './stretch.js';

/** Numbers nodes by their position in the stretch (`place`). */
export class StretchPlan {
  readonly plan: Plan;
  readonly planner: Planner;
  readonly #whole: Plan;
  readonly #numbers: readonly number[];
  /** True if a link leads to a node outside the stretch, by node. */
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

  numberOf(place: number): number {
    return this.#numbers[place]!;
  }

  /**
   * Returns the ready nodes that the walk executes next, in parallel; none if no node is ready or the run workflow has
   * to decide first. If the activity has something to report first (`hasNews`), returns only inline nodes, because
   * others may take long.
   */
  next(stride: Stride, hasNews = false): number[] {
    const ready = this.planner.ready();
    const inline = ready.filter((place) => traitsOf(this.plan.kinds[place]!).runs === 'inline');
    if (inline.length > 0) return inline.slice(0, MAX_CONCURRENT);
    const isWalked = (place: number): boolean =>
      walksThrough(stride, this.plan.kinds[place]!) && isInPoolOf(this.#whole, this.numberOf(0), this.numberOf(place));
    if (hasNews || this.#isNewsForOthers() || !ready.every(isWalked)) return [];
    const [first, ...others] = ready.map((place) => this.numberOf(place));
    const areTogether = first === undefined || others.every((other) => mayAccompany(this.#whole, first, other));
    return areTogether ? ready.slice(0, MAX_CONCURRENT) : [];
  }

  /**
   * True if a node with links that lead outside the stretch has ended or was skipped: a node outside may become ready
   * or be skipped.
   */
  #isNewsForOthers(): boolean {
    return this.#leadsOut.some((leadsOut, place) => leadsOut && this.planner.hasSettled(place));
  }
}
