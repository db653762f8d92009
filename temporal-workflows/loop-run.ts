import { CancelledFailure } from '@temporalio/workflow';
import type { LoopFacts, NodeFacts } from '../contract/activities.js';
import type { LoopSnapshot, ScopeSnapshot } from '../contract/run-workflow.js';
import { mayBeCaught } from '../graph/caught.js';
import { iterationPath } from '../graph/iteration-path.js';
import type { NodeKey, ScopePlan } from '../graph/plan.js';
import type { KeptNode } from '../graph/planner.js';
import { beginLoop, endIteration, endLoop, type LoopKind } from './activity-options.js';
import { Scope, type BegunLoop } from './scope.js';

/** The interface of the run to its loops. */
export interface RunOfLoops {
  /** The run starts the nodes of the scope from now on. */
  open(scope: Scope): void;
  close(scope: Scope): void;
  /** A loop holds no slot of the run while its iterations run. */
  leaveSlot(): void;
  takeSlot(): void;
  /** Whether the run starts nothing more in this execution, and continues in a new one. */
  isDraining(): boolean;
}

export interface LoopNode {
  kind: LoopKind;
  key: NodeKey;
  /** The summary that the Temporal UI shows. */
  summary: string;
  /** The plan of the body. */
  body: ScopePlan;
  /** The only iteration that a test executes; undefined where all are. */
  only?: number | undefined;
}

/** Why a loop has failed: in the iteration with this index. */
type Failure = NonNullable<LoopSnapshot['failure']>;

class IterationFailed extends Error {}

/** A loop of a draining run stops here for good. The next execution continues from its snapshot. */
function forever(): Promise<never> {
  return new Promise(() => undefined);
}

/**
 * A loop that has begun: its iterations run side by side in lanes. When one has ended, the next one begins in its lane. The
 * activity of the last node of an iteration ends it; where several nodes are the last ones, or one has failed, an activity
 * of its own does. The loop has one at its beginning and one at its end.
 */
export class LoopRun implements BegunLoop {
  readonly #run: RunOfLoops;
  readonly #node: LoopNode;
  readonly #open = new Map<number, Scope>();
  readonly #resumed: Map<number, ScopeSnapshot>;
  #facts: LoopFacts | undefined;
  /** The index of the iteration that begins next. */
  #next: number;
  /** The promise of `#facts`, once they are asked for. */
  #kept: ReadonlySet<number> | undefined;
  #left: ReadonlyMap<number, readonly KeptNode[]> | undefined;
  #failure: Failure | undefined;
  #rounds: number;
  #isOver: boolean;
  /** Whether no iteration begins any more. */
  #isStopped = false;

  constructor(run: RunOfLoops, node: LoopNode, resumed?: LoopSnapshot) {
    this.#run = run;
    this.#node = node;
    this.#facts = resumed?.facts;
    this.#next = resumed?.next ?? node.only ?? 0;
    this.#failure = resumed?.failure;
    this.#rounds = resumed?.rounds ?? 0;
    this.#isOver = resumed?.isOver ?? false;
    this.#resumed = new Map(resumed?.open);
  }

  /** Resolves when the loop has ended. A failure is recorded, and then thrown. */
  async execute(): Promise<NodeFacts> {
    const { kind, key, summary } = this.#node;
    let begun = [...this.#resumed.keys()];
    if (this.#facts === undefined) {
      this.#facts = await beginLoop(kind, key, summary);
      begun = this.#beginLanes(this.#facts);
    }
    if (this.#failure !== undefined) begun = [];
    // Before the slot is left: whoever takes a snapshot from then on finds the iterations.
    for (const index of begun) this.#openScope(index);
    this.#run.leaveSlot();
    try {
      await this.#finishLanes(begun);
      if (this.#run.isDraining()) await forever();
    } finally {
      this.#run.takeSlot();
    }
    const { only } = this.#node;
    const isOver = this.#isOver || only !== undefined;
    const count = only === undefined ? this.#rounds : only + 1;
    const rounds = this.#facts.isConditional && { isOver, rounds: count };
    const failure = this.#failure !== undefined && { failure: this.#failure };
    return endLoop({ ...key, ...rounds, ...failure }, summary);
  }

  /** Iterations whose ends are kept do not begin again. */
  #beginLanes({ concurrency, isConditional, kept = [], isOver }: LoopFacts): number[] {
    if (isConditional) this.#rounds = kept.length;
    this.#isOver = isOver === true;
    const begun: number[] = [];
    while (!this.#isOver && begun.length < concurrency) {
      const index = this.#takeNext();
      if (index === undefined) break;
      begun.push(index);
    }
    return begun;
  }

  #takeNext(): number | undefined {
    this.#kept ??= new Set(this.#facts!.kept);
    while (this.#kept.has(this.#next)) this.#next++;
    return this.#next < this.#end ? this.#next++ : undefined;
  }

  /** The index behind the last iteration. */
  get #end(): number {
    const { count } = this.#facts!;
    const { only } = this.#node;
    return only === undefined ? count : Math.min(count, only + 1);
  }

  /** The nodes that an earlier run has left of an iteration. */
  #leftOf(index: number): readonly KeptNode[] {
    this.#left ??= new Map(this.#facts!.begun);
    return this.#left.get(index) ?? [];
  }

  /** Cancels all iterations. */
  stop(): void {
    this.#isStopped = true;
    for (const scope of this.#open.values()) scope.stop();
  }

  /** Taken only while the loop holds no slot: then it has begun. */
  snapshot(node: number): LoopSnapshot {
    return {
      node,
      facts: this.#facts!,
      next: this.#next,
      open: [...this.#open].map(([index, scope]) => [index, scope.snapshot()]),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      ...(this.#isOver && { isOver: true }),
      ...(this.#rounds > 0 && { rounds: this.#rounds }),
    };
  }

  async #finishLanes(begun: number[]): Promise<void> {
    const lanes = begun.map((index) => this.#lane(index));
    try {
      await Promise.all(lanes);
    } catch (error) {
      this.stop();
      await Promise.allSettled(lanes);
      if (!(error instanceof IterationFailed)) throw error;
    }
  }

  async #lane(first: number): Promise<void> {
    for (let index: number | undefined = first; index !== undefined;) index = await this.#finishIteration(index);
  }

  /** Returns the index of the iteration that has begun in its place; undefined for none. */
  async #finishIteration(index: number): Promise<number | undefined> {
    const { survivesFailures, isConditional } = this.#facts!;
    const scope = this.#open.get(index)!;
    await scope.finished;
    const { failure } = scope;
    if (failure === undefined && scope.isStopped) throw new CancelledFailure('The loop was stopped.');
    const { iterationEnd } = scope;
    if (iterationEnd === undefined && this.#run.isDraining()) await forever();
    const isSurvived = (code: string | undefined): boolean =>
      code === undefined || (survivesFailures && mayBeCaught(code));
    const next = isSurvived(failure) ? scope.chooseNext() : undefined;
    const { key, summary } = this.#node;
    const end = { ...key, index, ...(failure !== undefined && { failure }), ...(next !== undefined && { next }) };
    this.#run.takeSlot();
    try {
      const facts = iterationEnd ?? (await endIteration(end, summary));
      // Nothing is awaited from here until the slot is left: a snapshot has this iteration or the next one.
      this.#open.delete(index);
      this.#run.close(scope);
      if (isConditional) this.#rounds = index + 1;
      if (!isSurvived(facts.failure)) {
        this.#failure ??= { code: facts.failure!, index };
        throw new IterationFailed();
      }
      this.#isOver ||= facts.isOver === true;
      if (this.#isOver || next === undefined) return undefined;
      this.#openScope(next);
      return next;
    } finally {
      this.#run.leaveSlot();
    }
  }

  /** An activity that was in flight when the loop was stopped may have ended since. */
  #openScope(index: number): void {
    if (this.#isStopped) throw new CancelledFailure('The loop was stopped.');
    const { key, body } = this.#node;
    const resumed = this.#resumed.get(index);
    const path = iterationPath(key.path, key.nodeId, index);
    const chooseNext = (): number | undefined => this.#takeNext();
    const scope = new Scope({ runId: key.runId, path, plan: body, resumed, chooseNext });
    if (resumed === undefined) scope.settleFirst(this.#leftOf(index));
    this.#open.set(index, scope);
    this.#run.open(scope);
  }
}
