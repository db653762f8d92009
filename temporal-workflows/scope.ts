// The scopes of a run: the drawing outside bodies, and one for each open iteration of a loop.
import { CancellationScope } from '@temporalio/workflow';
import type { EndIterationFacts } from '../contract/activities.js';
import type { LoopSnapshot, ScopeSnapshot } from '../contract/run-workflow.js';
import type { NodeKey, ScopePlan } from '../graph/plan.js';
import { Planner, type KeptNode } from '../graph/planner.js';
import { mayBeginTogether, MAX_CONCURRENT, type Stride } from '../graph/stretch.js';

/** A loop that has begun (`LoopRun`). */
export interface BegunLoop {
  /** Cancels all iterations. */
  stop(): void;
  snapshot(node: number): LoopSnapshot;
}

interface ScopeOptions {
  runId: string;
  path: string;
  plan: ScopePlan;
  resumed?: ScopeSnapshot | undefined;
  /** Chooses the iteration that begins in the place of one that has ended; undefined for none. */
  chooseNext?: () => number | undefined;
}

/** The nodes of one scope: what is ready, what is in flight, and whether all have ended. */
export class Scope {
  readonly path: string;
  readonly plan: ScopePlan;
  readonly planner: Planner;
  /** Cancelled together with the nodes of the scope. */
  readonly cancellation = new CancellationScope({ cancellable: true });
  /** The loops of the scope that have begun and not ended, by their numbers in it. */
  readonly loops = new Map<number, BegunLoop>();
  /** The loops that an earlier execution has begun. */
  readonly resumedLoops: ReadonlyMap<number, LoopSnapshot>;
  /** Resolves when nothing of the scope is in flight, and nothing more of it starts. */
  readonly finished: Promise<void>;
  /** Set when an activity has ended the iteration. */
  iterationEnd: EndIterationFacts | undefined;
  readonly #runId: string;
  readonly #chooseNext: () => number | undefined;
  /** The choice, once it is made: null for none. */
  #next: number | null | undefined;
  #finish: () => void = () => undefined;
  /** Nodes that have started and not ended; those that wait count. */
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

  /** The code of the failure that has ended the scope. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The first node has ended before anything of the scope begins: it is the trigger, or the loop around a body. */
  settleFirst(kept: readonly KeptNode[]): void {
    this.planner.succeed(this.planner.take()!, 0);
    this.planner.settleKept(kept);
    this.#finishIfDone();
  }

  keyOf(node: number): NodeKey {
    return { runId: this.#runId, path: this.path, nodeId: this.plan.ids[node]! };
  }

  /** The iteration that begins in place of this one, always the same; undefined for none. */
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

  /** Ends the scope by the failure of one of its nodes. */
  fail(code: string): void {
    this.#failure ??= code;
    this.stop();
  }

  /** Cancels what is in flight. Nothing more of the scope starts. */
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

/** A node in its scope. */
export interface ScopeNode {
  scope: Scope;
  node: number;
}

/** Ready nodes of a scope that begin in one activity. */
export interface ReadyNodes {
  scope: Scope;
  nodes: [first: number, ...others: number[]];
}

/** The open scopes of a run. They take turns, so that a large one does not keep the others waiting. */
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

  /** Returns the next ready node, with those that may begin in the same activity. Undefined when there is none. */
  take(stride: Stride): ReadyNodes | undefined {
    for (const scope of this.#scopes) {
      const first = scope.isStopped ? undefined : scope.planner.take();
      if (first === undefined) continue;
      // A set keeps the order of insertion: the scope goes to the end.
      this.#scopes.delete(scope);
      this.#scopes.add(scope);
      const mayJoin = (other: number): boolean => mayBeginTogether(stride, scope.plan, first, other);
      return { scope, nodes: [first, ...scope.planner.takeWhile(mayJoin, MAX_CONCURRENT - 1)] };
    }
    return undefined;
  }
}
