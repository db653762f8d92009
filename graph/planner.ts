// Decides which nodes of a scope may run next. Pure: no Temporal, no clock, no randomness. A replay must reach the same
// decisions in the same order, so a change of order needs `patched()` (CONTRIBUTING.md, "Changing the run workflow"). A
// walk (activities/node/walk.ts) uses a planner of its own for its stretch (stretch.ts).
import type { Handle, Plan } from './plan.js';

/** Plain JSON. The positions in `states`, `unsettled` and `live` and the values of `queue` are node numbers. */
export interface PlannerSnapshot {
  /** The states as one character per node (see `NodeState`). */
  states: string;
  unsettled: number[];
  live: number[];
  queue: number[];
}

/** A node whose result is reused from an earlier run. */
export interface ReusedNode {
  /** The node's number in the plan of its scope. */
  node: number;
  /** The handles by which the node was left. Absent for the ordinary links. */
  handles?: Handle[];
  /** Set if the node failed and its run survived that. */
  hasFailed?: true;
}

export const NodeState = {
  waiting: 0,
  ready: 1,
  running: 2,
  succeeded: 3,
  failed: 4,
  skipped: 5,
  cancelled: 6,
} as const;
type State = (typeof NodeState)[keyof typeof NodeState];

/**
 * An edge settles at most once, as live (taken) or dead. A node is decided when all its incoming edges have settled,
 * or, with `join: "any"`, at its first live edge. A node with at least one live edge becomes ready. Any other node is
 * skipped, and its own edges become dead (dead-path elimination).
 */
export class Planner {
  readonly #plan: Plan;
  readonly #states: Uint8Array;
  readonly #joinsAny: ReadonlySet<number>;
  /** The number of incoming edges that haven't settled, and the number that settled live, by node. */
  readonly #unsettled: number[];
  readonly #live: number[];
  /** Ready nodes, first in, first out. Entries before `#head` have been taken. */
  #queue: number[];
  #head = 0;
  #open: number;
  #succeeded: number;

  constructor(plan: Plan, snapshot?: PlannerSnapshot) {
    const size = plan.ids.length;
    this.#plan = plan;
    this.#states = new Uint8Array(size);
    this.#joinsAny = new Set(plan.joinsAny);
    if (snapshot === undefined) {
      this.#unsettled = [...plan.indegree];
      this.#live = new Array<number>(size).fill(0);
      this.#queue = [0];
      this.#states[0] = NodeState.ready;
    } else {
      for (let node = 0; node < size; node++) this.#states[node] = snapshot.states.charCodeAt(node) - 48;
      this.#unsettled = [...snapshot.unsettled];
      this.#live = [...snapshot.live];
      this.#queue = [...snapshot.queue];
    }
    this.#open = this.#states.reduce((open, state) => (isSettled(state) ? open : open + 1), 0);
    this.#succeeded = this.#states.reduce((count, state) => (state === NodeState.succeeded ? count + 1 : count), 0);
  }

  get open(): number {
    return this.#open;
  }

  get succeeded(): number {
    return this.#succeeded;
  }

  /** Marks the next ready node as running and returns it, or undefined if there is none. Amortised O(1). */
  take(): number | undefined {
    const node = this.#queue[this.#head];
    if (node === undefined) return undefined;
    this.#head++;
    if (this.#head > 1024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    this.#states[node] = NodeState.running;
    return node;
  }

  /** `taken`: the handles by which the node was left, usually one; 0 stands for its ordinary links. */
  succeed(node: number, ...taken: Handle[]): void {
    this.#settle(node, NodeState.succeeded);
    this.#succeeded++;
    this.#settleEdges(node, taken);
  }

  /** Settles a node whose failure the run survives, and follows the links of the handle `taken`. */
  survive(node: number, taken: Handle): void {
    this.#settle(node, NodeState.failed);
    this.#settleEdges(node, [taken]);
  }

  /** Marks up to `most` ready nodes as running, in order, until `isWanted` rejects one. Returns the marked nodes. */
  takeWhile(isWanted: (node: number) => boolean, most: number): number[] {
    const taken: number[] = [];
    while (taken.length < most) {
      const node = this.#queue[this.#head];
      if (node === undefined || !isWanted(node)) break;
      taken.push(this.take()!);
    }
    return taken;
  }

  ready(): number[] {
    return this.#queue.slice(this.#head);
  }

  isReady(node: number): boolean {
    return this.#states[node] === NodeState.ready;
  }

  /**
   * Marks a node that is ready or running as running. Searches from the end, because the node usually became ready
   * recently.
   */
  markRunning(node: number): void {
    if (this.#states[node] === NodeState.running) return;
    const place = this.#queue.lastIndexOf(node);
    if (place < this.#head) throw new Error(`node ${node} is not ready`);
    this.#queue.splice(place, 1);
    this.#states[node] = NodeState.running;
  }

  /** Makes a running node ready again. */
  putBack(node: number): void {
    this.#states[node] = NodeState.ready;
    this.#queue.push(node);
  }

  /** Returns the number of unsettled links to a waiting node, or undefined if the node isn't waiting. */
  linksAwaitedBy(node: number): number | undefined {
    return this.#states[node] === NodeState.waiting ? this.#unsettled[node]! : undefined;
  }

  isLinkTaken(node: number): boolean {
    return this.#live[node]! > 0;
  }

  hasSettled(node: number): boolean {
    return isSettled(this.#states[node]!);
  }

  /** Settles nodes whose results are reused. Each of them must be ready, or become ready by the others in the list. */
  settleReused(reused: readonly ReusedNode[]): void {
    const ends = new Map(reused.map((end) => [end.node, end]));
    const others: number[] = [];
    for (let node = this.take(); node !== undefined; node = this.take()) {
      const end = ends.get(node);
      const [handle = 0, ...alsoHandles] = end?.handles ?? [];
      if (end === undefined) others.push(node);
      else if (end.hasFailed === true) this.survive(node, handle);
      else this.succeed(node, handle, ...alsoHandles);
    }
    for (const node of others) this.#states[node] = NodeState.ready;
    this.#queue = others;
    this.#head = 0;
  }

  /** Settles a failed node. Its edges don't settle, because the failure ends the scope. */
  fail(node: number): void {
    this.#settle(node, NodeState.failed);
  }

  cancelOpen(): void {
    this.#states.forEach((state, node) => {
      if (!isSettled(state)) this.#settle(node, NodeState.cancelled);
    });
  }

  running(): number[] {
    const running: number[] = [];
    for (const [node, state] of this.#states.entries()) if (state === NodeState.running) running.push(node);
    return running;
  }

  states(): string {
    let states = '';
    for (const state of this.#states) states += String.fromCharCode(48 + state);
    return states;
  }

  /**
   * Returns the scope's state for continue-as-new. Started waits, started agents and open loops are still `running` in
   * it.
   */
  snapshot(): PlannerSnapshot {
    return {
      states: this.states(),
      unsettled: [...this.#unsettled],
      live: [...this.#live],
      queue: this.#queue.slice(this.#head),
    };
  }

  #settle(node: number, state: State): void {
    if (isSettled(this.#states[node]!)) throw new Error(`node ${node} settled twice`);
    this.#states[node] = state;
    this.#open--;
  }

  // Uses a worklist that grows while it is read. Recursion would be too deep, because a dead path may be thousands of
  // nodes long.
  #settleEdges(from: number, taken: readonly Handle[]): void {
    const edges = this.#plan.out[from]!.map(([to, handle]) => ({ to, isLive: taken.includes(handle) }));
    for (const { to, isLive } of edges) {
      if (isLive) this.#live[to]!++;
      this.#unsettled[to]!--;
      if (this.#states[to] !== NodeState.waiting) continue;
      const isDecided = this.#unsettled[to] === 0 || (isLive && this.#joinsAny.has(to));
      if (!isDecided) continue;
      if (this.#live[to]! > 0) {
        this.#states[to] = NodeState.ready;
        this.#queue.push(to);
      } else {
        this.#settle(to, NodeState.skipped);
        for (const [after] of this.#plan.out[to]!) edges.push({ to: after, isLive: false });
      }
    }
  }
}

function isSettled(state: number): boolean {
  return state >= NodeState.succeeded;
}
