import { CancellationScope, isCancellation, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { FinishRunInput, KeptNode, RunError } from '../contract/activities.js';
import { FINISH_SEQUENCE, type NodeFacts } from '../contract/nodes.js';
import {
  toMarkdown,
  type Decision,
  type LiveNode,
  type ResumedRun,
  type RunGraphInput,
  type RunStatusAnswer,
  type Wake,
} from '../contract/run-workflow.js';
import { mayBeCaught } from '../graph/caught.js';
import { bodyPlan, handleAfter, rootPlan, type Plan, type ScopePlan } from '../graph/plan.js';
import { callNode, closeNode, type LoopKind, type SingleStepKind, type WaitKind } from './activity-options.js';
import { createDenseExecution, type DenseExecution } from './dense/dense-execution.js';
import { LoopRun } from './loop-run.js';
import { failureCode, nodeFailureOf } from './node-failure.js';
import type { NodeWork, WorkEnd } from './node-work.js';
import { OpenScopes, Scope, type Place } from './scope.js';
import { WaitingNodes } from './waiting-nodes.js';

/** Labels of nodes that wait, in the progress that the Temporal UI shows. */
const WAITING_SHOWN = 20;

export type PlannedRun = RunGraphInput & { plan: Plan };

/**
 * The scheduler of one run. It keeps the nodes in flight, the phase (whether more nodes may start) and the first failure.
 * Each `Scope` knows which of its nodes are ready, each `LoopRun` opens the scopes of its iterations, and `WaitingNodes`
 * keeps the nodes that wait.
 */
export class GraphRun {
  readonly #input: PlannedRun;
  readonly #root: Scope;
  readonly #scopes = new OpenScopes();
  /** By the number of the loop in the whole plan. */
  readonly #bodies = new Map<number, ScopePlan>();
  readonly #dense: DenseExecution | undefined;
  readonly #waiting: WaitingNodes;
  #phase: RunStatusAnswer['phase'] = 'running';
  #inFlight = 0;
  #error: RunError | undefined;
  #isEndReported = false;
  #wake: () => void = () => undefined;

  constructor(input: PlannedRun, kept: readonly KeptNode[] = []) {
    this.#input = input;
    const plan = rootPlan(input.plan);
    this.#root = new Scope({ runId: input.runId, path: '', plan, resumed: input.resumed });
    this.#root.planner.settleKept(kept);
    this.#scopes.add(this.#root);
    const single = (node: number): NodeWork => this.#single({ scope: this.#root, node });
    this.#dense = createDenseExecution({ ...input, plan }, this.#root.planner, single);
    this.#waiting = new WaitingNodes(this.#slots, input.resumed);
  }

  /** Resolves when nothing is in flight and this execution starts nothing more. */
  async settle(): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#wake = resolve));
    CancellationScope.current().cancelRequested.catch(() => this.#stop('cancelling'));
    this.#resume(this.#root);
    this.#startReady();
    await idle;
  }

  status(): RunStatusAnswer {
    const live = this.#scopes
      .all()
      .flatMap((scope) => scope.planner.running().map((node) => this.#toLive(scope, node)));
    return { phase: this.#phase, states: this.#root.planner.states(), live };
  }

  decide(decision: Decision): void {
    this.#waiting.decide(decision);
  }

  wake(wake: Wake): void {
    this.#waiting.wake(wake);
  }

  /** Whether the last activity has reported the run's success. After that not even a cancel changes the outcome. */
  get isEndReported(): boolean {
    return this.#isEndReported;
  }

  isDrained(): boolean {
    return this.#phase === 'draining' && this.#root.planner.open > 0;
  }

  snapshot(): ResumedRun {
    return { ...this.#root.snapshot(), ...this.#waiting.snapshot() };
  }

  end(): FinishRunInput {
    const base = { runId: this.#input.runId, sequence: FINISH_SEQUENCE };
    const { planner } = this.#root;
    const isCancelled = this.#phase === 'cancelling' && !this.#isEndReported;
    // Open nodes without a failure mean a plan that cannot be finished. That is a bug, but it must end the run instead
    // of hanging it.
    if (!isCancelled && planner.open > 0) this.#error ??= { code: 'stalled' };
    planner.cancelOpen();
    this.#phase = 'finishing';
    setCurrentDetails(this.#progress());
    if (isCancelled) return { ...base, status: 'cancelled' };
    if (this.#error === undefined) return { ...base, status: 'succeed' };
    return { ...base, status: 'failed', error: this.#error };
  }

  /** Continues the nodes of a scope that an earlier execution has begun. Of one that has failed, nothing goes on. */
  #resume(scope: Scope): void {
    if (scope.isStopped) return;
    for (const node of [...this.#waiting.begun(scope.path), ...scope.resumedLoops.keys()]) {
      this.#start(scope, this.#single({ scope, node }));
    }
  }

  #startReady(): void {
    this.#drainWhenFull();
    const ready: Place[] = [];
    while (this.#phase === 'running' && this.#inFlight + ready.length < this.#input.maxInFlight) {
      const place = this.#scopes.take();
      if (place === undefined) break;
      ready.push(place);
    }
    const inRoot = ready.flatMap(({ scope, node }) => (scope === this.#root ? [node] : []));
    for (const work of this.#dense?.group(inRoot) ?? []) this.#start(this.#root, work);
    for (const place of ready) {
      if (this.#dense === undefined || place.scope !== this.#root) this.#start(place.scope, this.#single(place));
    }
    setCurrentDetails(this.#progress());
    if (this.#inFlight === 0 && !this.#isParked()) this.#wake();
  }

  /** Whether nodes that hold no slot keep the run open: it waits for them, unless it drains or is stopped. */
  #isParked(): boolean {
    if (this.#phase === 'running') return this.#waiting.size > 0 || this.#root.loops.size > 0;
    return this.#phase !== 'draining' && this.#waiting.size > 0;
  }

  /**
   * When history is near its limit, the run starts nothing more and waits for the nodes in flight. It then continues in
   * a new execution.
   */
  #drainWhenFull(): void {
    if (this.#phase === 'running' && workflowInfo().continueAsNewSuggested) this.#phase = 'draining';
  }

  #start(scope: Scope, work: NodeWork): void {
    this.#inFlight += work.size;
    scope.enter();
    scope.cancellation
      .run(() => work.run())
      .then(
        (end) => this.#settleWork(scope, end),
        // A cancelled node stays open here. The end of the run, or of its iteration, closes it.
        (error: unknown) =>
          isCancellation(error) ? undefined : this.#failOrCatch({ scope, node: work.failedNode(error) }, error),
      )
      .finally(() => {
        this.#inFlight -= work.size;
        scope.leave();
        this.#startReady();
      });
  }

  #settleWork(scope: Scope, { isEnded, rest = [] }: WorkEnd): void {
    if (isEnded === true) this.#isEndReported = true;
    for (const left of rest) this.#start(scope, left);
  }

  /** A failure that comes when the run or the iteration is already being stopped is not caught: nothing follows it. */
  async #failOrCatch(place: Place, error: unknown): Promise<void> {
    const { scope, node } = place;
    const code = failureCode(error);
    const taken = handleAfter(code, scope.plan, node);
    const isCaught = taken !== undefined && mayBeCaught(code) && this.#isGoingOn(scope);
    if (isCaught && nodeFailureOf(error) === undefined) {
      await CancellationScope.nonCancellable(() => closeNode({ ...scope.keyOf(node), code }));
    }
    // Meanwhile the run may have been stopped.
    if (isCaught && this.#isGoingOn(scope)) scope.planner.survive(node, taken);
    else this.#fail(place, code);
  }

  #isGoingOn(scope: Scope): boolean {
    return (this.#phase === 'running' || this.#phase === 'draining') && !scope.isStopped;
  }

  #fail({ scope, node }: Place, code: string): void {
    scope.planner.fail(node);
    if (scope !== this.#root) return scope.fail(code);
    const { path, nodeId } = scope.keyOf(node);
    this.#error ??= { code, node: { path, nodeId } };
    this.#stop('failing');
  }

  /** Returns the work of one node: one activity, or an agent, a wait or a loop with several. */
  #single(place: Place): NodeWork {
    const { scope, node } = place;
    const run = async (): Promise<WorkEnd> => {
      const facts = await this.#execute(place);
      scope.planner.succeed(node, facts.handle ?? 0, ...(facts.alsoHandles ?? []));
      return facts.isEnded === true ? { isEnded: true } : {};
    };
    return { size: 1, run, failedNode: () => node };
  }

  #execute(place: Place): Promise<NodeFacts> {
    const { scope, node } = place;
    const kind = scope.plan.kinds[node]!;
    const key = scope.keyOf(node);
    const summary = toMarkdown(scope.plan.labels[node]!);
    if (kind === 'agent') return this.#waiting.runAgent(place, { key, summary });
    if (kind === 'wait' || kind === 'human' || kind === 'workflow') {
      return this.#waiting.runWait(place, { kind: kind satisfies WaitKind, key, summary });
    }
    if (kind === 'for_each' || kind === 'loop') return this.#runLoop(place, kind satisfies LoopKind, summary);
    const isLast = scope === this.#root && scope.planner.open === 1;
    return callNode(kind satisfies SingleStepKind, {
      node: isLast ? { ...key, endSequence: FINISH_SEQUENCE } : key,
      summary,
    });
  }

  async #runLoop({ scope, node }: Place, kind: LoopKind, summary: string): Promise<NodeFacts> {
    const body = this.#bodyOf(scope.plan.offset + node);
    const loop = new LoopRun(
      this.#ofLoops,
      { kind, key: scope.keyOf(node), summary, body },
      scope.resumedLoops.get(node),
    );
    scope.loops.set(node, loop);
    try {
      return await loop.execute();
    } finally {
      scope.loops.delete(node);
    }
  }

  #bodyOf(loop: number): ScopePlan {
    const known = this.#bodies.get(loop) ?? bodyPlan(this.#input.plan, loop);
    this.#bodies.set(loop, known);
    return known;
  }

  /** For nodes that wait, and for loops. */
  readonly #slots = {
    leaveSlot: (): void => {
      this.#inFlight--;
      this.#startReady();
    },
    takeSlot: (): void => void this.#inFlight++,
    isDraining: (): boolean => {
      this.#drainWhenFull();
      return this.#phase === 'draining';
    },
  };

  readonly #ofLoops = {
    ...this.#slots,
    open: (scope: Scope): void => {
      this.#scopes.add(scope);
      this.#resume(scope);
    },
    close: (scope: Scope): void => this.#scopes.delete(scope),
  };

  #stop(why: 'failing' | 'cancelling'): void {
    if (!this.#isGoingOn(this.#root)) return;
    this.#phase = why;
    this.#root.stop();
    if (this.#inFlight === 0 && !this.#isParked()) this.#wake();
  }

  #toLive(scope: Scope, node: number): LiveNode {
    const waiting = this.#waiting.waitingOf(scope.path, node);
    return { id: scope.plan.ids[node]!, path: scope.path, ...(waiting && { waiting }) };
  }

  #progress(): string {
    const { planner, plan } = this.#root;
    const counts = `${this.#phase}: ${planner.succeeded} of ${plan.ids.length} nodes succeeded, ${this.#inFlight} in flight`;
    if (this.#waiting.size === 0) return counts;
    const shown = this.#waiting.labels(WAITING_SHOWN).map(toMarkdown);
    const more = this.#waiting.size > shown.length ? ` and ${this.#waiting.size - shown.length} more` : '';
    return `${counts}\n\nWaiting: ${shown.join(', ')}${more}`;
  }
}
