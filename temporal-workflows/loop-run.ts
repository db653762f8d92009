// Executes a loop node: starts its iterations in parallel lanes, and makes sure that the ends of the iterations and of
// the loop are recorded (docs/adr/0019-iterations-inside-the-run.md).
import { CancelledFailure } from '@temporalio/workflow';
import type { LoopFacts, NodeFacts } from '../contract/activities.js';
import type { LoopSnapshot, ScopeSnapshot } from '../contract/run-workflow.js';
import { mayBeCaught } from '../graph/caught.js';
import { iterationPath } from '../graph/iteration-path.js';
import type { NodeKey, ScopePlan } from '../graph/plan.js';
import type { ReusedNode } from '../graph/planner.js';
import { startLoop, endIteration, endLoop, type LoopKind } from './activity-options.js';
import { Scope, type StartedLoop } from './scope.js';

export interface RunOfLoops {
  open(scope: Scope): void;
  close(scope: Scope): void;
  /** A loop holds no slot of the run while its iterations run. */
  leaveSlot(): void;
  takeSlot(): void;
  /** True if the run starts nothing more in this execution and will continue as new. */
  isDraining(): boolean;
}

export interface LoopNode {
  kind: LoopKind;
  key: NodeKey;
  /** Shown in the Temporal UI. */
  summary: string;
  body: ScopePlan;
  /** The only iteration that a test run executes. Undefined if all are executed. */
  only?: number | undefined;
}

type Failure = NonNullable<LoopSnapshot['failure']>;

class IterationFailed extends Error {}

/** A loop of a draining run stops here for good. The next execution continues from its snapshot. */
function forever(): Promise<never> {
  return new Promise(() => undefined);
}

/**
 * A loop in progress. Its iterations run in parallel lanes: when an iteration ends, the next one starts in its lane.
 * Usually the activity of an iteration's last node ends the iteration; otherwise `endIteration` does, for example after
 * a failure, or if the last node is a wait. The loop itself takes one activity to start and one to end.
 */
export class LoopRun implements StartedLoop {
  readonly #run: RunOfLoops;
  readonly #node: LoopNode;
  readonly #open = new Map<number, Scope>();
  readonly #resumed: Map<number, ScopeSnapshot>;
  #facts: LoopFacts | undefined;
  #next: number;
  /** The iterations whose results are reused. Built from `#facts` on first use. */
  #reused: ReadonlySet<number> | undefined;
  #reusedNodes: ReadonlyMap<number, readonly ReusedNode[]> | undefined;
  #failure: Failure | undefined;
  #rounds: number;
  #isOver: boolean;
  /** True if no iteration may start any more. */
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

  /** Resolves when the loop has ended. A failure is recorded first, then thrown. */
  async execute(): Promise<NodeFacts> {
    const { kind, key, summary } = this.#node;
    let started = [...this.#resumed.keys()];
    if (this.#facts === undefined) {
      this.#facts = await startLoop(kind, key, summary);
      started = this.#startLanes(this.#facts);
    }
    if (this.#failure !== undefined) started = [];
    // Open the scopes before the slot is released: releasing it may take a snapshot, which must contain these
    // iterations.
    for (const index of started) this.#openScope(index);
    this.#run.leaveSlot();
    try {
      await this.#finishLanes(started);
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

  /** Chooses the first iterations, one for each lane. Iterations with a reused result don't run again. */
  #startLanes({ concurrency, isConditional, kept: reused = [], isOver }: LoopFacts): number[] {
    if (isConditional) this.#rounds = reused.length;
    this.#isOver = isOver === true;
    const started: number[] = [];
    while (!this.#isOver && started.length < concurrency) {
      const index = this.#takeNext();
      if (index === undefined) break;
      started.push(index);
    }
    return started;
  }

  #takeNext(): number | undefined {
    this.#reused ??= new Set(this.#facts!.kept);
    while (this.#reused.has(this.#next)) this.#next++;
    return this.#next < this.#end ? this.#next++ : undefined;
  }

  get #end(): number {
    const { count } = this.#facts!;
    const { only } = this.#node;
    return only === undefined ? count : Math.min(count, only + 1);
  }

  #reusedNodesOf(index: number): readonly ReusedNode[] {
    this.#reusedNodes ??= new Map(this.#facts!.begun);
    return this.#reusedNodes.get(index) ?? [];
  }

  stop(): void {
    this.#isStopped = true;
    for (const scope of this.#open.values()) scope.stop();
  }

  /** Must be called only while the loop holds no slot, because `#facts` is set by then. */
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

  async #finishLanes(started: number[]): Promise<void> {
    const lanes = started.map((index) => this.#lane(index));
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

  /** Returns the index of the iteration that started in this one's place, or undefined if none did. */
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
      // No `await` from here until the slot is released: a snapshot must contain either this iteration or the next one.
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

  /** Throws if the loop was stopped while the activity that precedes the iteration was in flight. */
  #openScope(index: number): void {
    if (this.#isStopped) throw new CancelledFailure('The loop was stopped.');
    const { key, body } = this.#node;
    const resumed = this.#resumed.get(index);
    const path = iterationPath(key.path, key.nodeId, index);
    const chooseNext = (): number | undefined => this.#takeNext();
    const scope = new Scope({ runId: key.runId, path, plan: body, resumed, chooseNext });
    if (resumed === undefined) scope.settleFirst(this.#reusedNodesOf(index));
    this.#open.set(index, scope);
    this.#run.open(scope);
  }
}
