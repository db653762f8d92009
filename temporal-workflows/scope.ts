// The scopes of a run: the drawing outside loop bodies, and each open iteration of a loop.
import { CancellationScope } from '@temporalio/workflow';
import type { EndIterationFacts } from '../contract/activities.js';
import type { LoopSnapshot, ScopeSnapshot } from '../contract/run-workflow.js';
import type { NodeKey, ScopePlan } from '../graph/plan.js';
import { Planner, type ReusedNode } from '../graph/planner.js';
import { mayStartTogether, MAX_CONCURRENT, type Stride } from '../graph/stretch.js';

export interface StartedLoop {
  stop(): void;
  snapshot(node: number): LoopSnapshot;
}

interface ScopeOptions {
  runId: string;
  path: string;
  plan: ScopePlan;
  resumed?: ScopeSnapshot | undefined;
  /** Returns the index of the iteration that starts when this one ends, or undefined if none is left. */
  chooseNext?: () => number | undefined;
}

/** Tracks which nodes of one scope are ready and in flight, and when all have ended. */
export class Scope {
  readonly path: string;
  readonly plan: ScopePlan;
  readonly planner: Planner;
  /** Cancels the activities of the scope's nodes. */
  readonly cancellation = new CancellationScope({ cancellable: true });
  /** The loops of the scope that are in progress, by node number. */
  readonly loops = new Map<number, StartedLoop>();
  /** Loops that an earlier execution started, by node number. */
  readonly resumedLoops: ReadonlyMap<number, LoopSnapshot>;
  /** Resolves when no node of the scope is in flight or waits, and nothing more will start. */
  readonly finished: Promise<void>;
  /** Set if an activity of the scope's nodes has ended the iteration. */
  iterationEnd: EndIterationFacts | undefined;
  readonly #runId: string;
  readonly #chooseNext: () => number | undefined;
  /** The memoised choice; null if no iteration is left, undefined if not chosen yet. */
  #next: number | null | undefined;
  #finish: () => void = () => undefined;
  /** The number of nodes in flight, waiting nodes included. Nodes that started together count as one. */
  #started = 0;
  #failure: string | undefined;
  #isStopped: boolean;

  constructor({ runId, path, plan, resumed, chooseNext = () => undefined }: ScopeOptions) {
    this.#runId = runId;
    this.path = path;
    this.plan = plan;
    this.planner = new Planner(plan, resumed?.planner);
    this.resumedLoops = new Map(resumed?.loops?.map((loop) => [loop.node, loop]));
    this.finished = new Promise((resolve) => (this.#finish = resolve));
    this.#chooseNext = chooseNext;
    this.#next = resumed?.next;
    this.#failure = resumed?.failure;
    this.#isStopped = this.#failure !== undefined;
    this.#finishIfDone();
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Before any node starts, marks the first one as succeeded, which is the trigger or the loop around a body, and
   * settles the nodes whose results are reused.
   */
  settleFirst(reused: readonly ReusedNode[]): void {
    this.planner.succeed(this.planner.take()!, 0);
    this.planner.settleReused(reused);
    this.#finishIfDone();
  }

  keyOf(node: number): NodeKey {
    return { runId: this.#runId, path: this.path, nodeId: this.plan.ids[node]! };
  }

  /** Returns the iteration that starts when this one ends. Memoises the choice. */
  chooseNext(): number | undefined {
    if (this.#next === undefined) this.#next = this.#chooseNext() ?? null;
    return this.#next ?? undefined;
  }

  enter(): void {
    this.#started++;
  }

  leave(): void {
    this.#started--;
    this.#finishIfDone();
  }

  /** Stops the scope because one of its nodes has failed. The first code counts. */
  fail(code: string): void {
    this.#failure ??= code;
    this.stop();
  }

  /** Cancels the nodes in flight; nothing more starts. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.cancellation.cancel();
    for (const loop of this.loops.values()) loop.stop();
    this.#finishIfDone();
  }

  snapshot(): ScopeSnapshot {
    const loops = [...this.loops].map(([node, loop]) => loop.snapshot(node));
    return {
      planner: this.planner.snapshot(),
      ...(loops.length > 0 && { loops }),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      ...(this.#next !== undefined && { next: this.#next }),
    };
  }

  #finishIfDone(): void {
    if (this.#started === 0 && (this.#isStopped || this.planner.open === 0)) this.#finish();
  }
}

export interface ScopeNode {
  scope: Scope;
  node: number;
}

export interface ReadyNodes {
  scope: Scope;
  nodes: [first: number, ...others: number[]];
}

/** The open scopes of a run. `take` serves them round robin, so that a large scope doesn't delay the others. */
export class OpenScopes {
  readonly #scopes = new Set<Scope>();

  add(scope: Scope): void {
    this.#scopes.add(scope);
  }

  delete(scope: Scope): void {
    this.#scopes.delete(scope);
  }

  all(): Scope[] {
    return [...this.#scopes];
  }

  /** Returns the next ready node and those that may start in the same activity, or undefined if no node is ready. */
  take(stride: Stride): ReadyNodes | undefined {
    for (const scope of this.#scopes) {
      const first = scope.isStopped ? undefined : scope.planner.take();
      if (first === undefined) continue;
      // A set iterates in order of insertion, so this moves the scope to the end.
      this.#scopes.delete(scope);
      this.#scopes.add(scope);
      const mayJoin = (other: number): boolean => mayStartTogether(stride, scope.plan, first, other);
      return { scope, nodes: [first, ...scope.planner.takeWhile(mayJoin, MAX_CONCURRENT - 1)] };
    }
    return undefined;
  }
}
