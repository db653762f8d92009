// Schedules the nodes of one run: starts what the planner reports as ready, and applies what activities report.
import { CancellationScope, isCancellation, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { FinishRunInput, NodeFacts, RunError, WaitFacts, Walked, WalkRef } from '../contract/activities.js';
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
import { traitsOf } from '../graph/kinds.js';
import { bodyPlan, handleAfter, isFixed, rootPlan, type Plan, type ScopePlan } from '../graph/plan.js';
import type { ReusedNode } from '../graph/planner.js';
import { stretchFrom, stretchInPool, type Stride } from '../graph/stretch.js';
import {
  enterPool,
  settleWalk,
  takeFixed,
  walk,
  type LoopKind,
  type Place,
  type SingleStepKind,
  type WaitKind,
} from './activity-options.js';
import { LoopRun } from './loop-run.js';
import { failureCode, nodeFailureOf } from './node-failure.js';
import { OpenScopes, Scope, type ReadyNodes } from './scope.js';
import { WaitingNodes } from './waiting-nodes.js';

const WAITING_SHOWN = 20;

export type PlannedRun = RunGraphInput & { plan: Plan };

interface Work extends ReadyNodes {
  /** The nodes that this activity may settle. */
  mayWalk: number[];
}

/**
 * The scheduler of one run. It counts the activities in flight, and holds the phase (whether more nodes may start) and
 * the first failure. Each `Scope` tracks which of its nodes are ready, each `LoopRun` opens the scopes of its
 * iterations, and `WaitingNodes` holds the nodes that wait.
 */
export class GraphRun {
  readonly #input: PlannedRun;
  readonly #root: Scope;
  readonly #scopes = new OpenScopes();
  /** Cached plans of loop bodies, by the loop's number in the whole plan. */
  readonly #bodies = new Map<number, ScopePlan>();
  readonly #stride: Stride;
  #hasPools: boolean;
  readonly #waiting: WaitingNodes;
  #phase: RunStatusAnswer['phase'] = 'running';
  #inFlight = 0;
  #error: RunError | undefined;
  #isEndWritten = false;
  #becomeIdle: () => void = () => undefined;

  constructor(input: PlannedRun, reused: readonly ReusedNode[] = []) {
    this.#input = input;
    this.#stride = input.stride ?? 'visible';
    this.#hasPools = input.hasPools === true;
    const plan = rootPlan(input.plan);
    this.#root = new Scope({ runId: input.runId, path: '', plan, resumed: input.resumed });
    if (input.resumed === undefined) {
      // A trigger at the start needs no activity: it succeeds as soon as a worker executes the run.
      if (plan.kinds[0] === 'trigger') this.#root.settleFirst(reused);
      else this.#root.planner.settleReused(reused);
    }
    this.#scopes.add(this.#root);
    this.#waiting = new WaitingNodes(this.#slots, input.resumed);
  }

  /** Resolves when nothing is in flight and this execution starts nothing more. */
  async execute(): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#becomeIdle = resolve));
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

  /** True if an activity has recorded the run as succeeded. A later cancel doesn't change that outcome. */
  get isEndWritten(): boolean {
    return this.#isEndWritten;
  }

  get hasPools(): boolean {
    return this.#hasPools;
  }

  isDrained(): boolean {
    return this.#phase === 'draining' && this.#root.planner.open > 0;
  }

  snapshot(): ResumedRun {
    return { ...this.#root.snapshot(), ...this.#waiting.snapshot() };
  }

  end(): FinishRunInput {
    const { runId } = this.#input;
    const { planner } = this.#root;
    const isCancelled = this.#phase === 'cancelling';
    // Open nodes without a failure mean that the plan cannot be finished. Such a bug must end the run instead of
    // leaving it open.
    if (!isCancelled && planner.open > 0) this.#error ??= { code: 'stalled' };
    planner.cancelOpen();
    this.#phase = 'finishing';
    setCurrentDetails(this.#progress());
    if (this.#isEndWritten) return { runId, status: 'succeed' };
    if (isCancelled) return { runId, status: 'cancelled' };
    if (this.#error === undefined) return { runId, status: 'succeed' };
    return { runId, status: 'failed', error: this.#error };
  }

  /** Continues the nodes of a scope that an earlier execution started. A scope that has failed continues nothing. */
  #resume(scope: Scope): void {
    if (scope.isStopped) return;
    for (const node of [...this.#waiting.started(scope.path), ...scope.resumedLoops.keys()])
      this.#start({ scope, nodes: [node] });
  }

  #startReady(): void {
    this.#drainWhenFull();
    while (this.#phase === 'running' && this.#inFlight < this.#input.maxInFlight) {
      const ready = this.#scopes.take(this.#stride);
      if (ready === undefined) break;
      this.#start(ready);
    }
    setCurrentDetails(this.#progress());
    if (this.#inFlight === 0 && !this.#isParked()) this.#becomeIdle();
  }

  /** True if the run stays open for nodes that hold no slot. A draining run doesn't wait for them. */
  #isParked(): boolean {
    if (this.#phase === 'running') return this.#waiting.size > 0 || this.#root.loops.size > 0;
    return this.#phase !== 'draining' && this.#waiting.size > 0;
  }

  /**
   * When the history is near its limit, starts nothing more. Once the nodes in flight have ended, the run continues as
   * new.
   */
  #drainWhenFull(): void {
    if (this.#phase === 'running' && workflowInfo().continueAsNewSuggested) this.#phase = 'draining';
  }

  /** Starts nodes that the planner has already marked as running. */
  #start(ready: ReadyNodes, { afterMs = 0, wait }: { afterMs?: number; wait?: WaitFacts } = {}): void {
    const { scope, nodes } = ready;
    const work: Work = { ...ready, mayWalk: ready.nodes };
    this.#inFlight++;
    scope.enter();
    scope.cancellation
      .run(async () => {
        if (afterMs > 0) await sleep(afterMs);
        if (wait !== undefined) await this.#waiting.waitForConnection({ scope, node: nodes[0] }, wait);
        return this.#execute(work);
      })
      .then(
        (walked) => this.#apply(scope, walked),
        (error: unknown) => this.#applyFailure(work, error),
      )
      .finally(() => {
        this.#inFlight--;
        scope.leave();
        this.#startReady();
      });
  }

  #apply(scope: Scope, { ends, later = [], waits = [], isElsewhere, isRunEnded, iteration }: Walked): void {
    if (isElsewhere === true) this.#hasPools = true;
    for (const [node, how, ...alsoHandles] of ends) {
      scope.planner.markRunning(node);
      if (typeof how === 'number') scope.planner.succeed(node, how, ...alsoHandles);
      else this.#surviveOrFail(scope, node, how);
    }
    for (const [node, afterMs] of later) {
      if (!this.#isGoingOn(scope)) break;
      scope.planner.markRunning(node);
      if (afterMs > 0) this.#start({ scope, nodes: [node] }, { afterMs });
      else scope.planner.putBack(node);
    }
    for (const [node, wait] of waits) {
      if (!this.#isGoingOn(scope)) break;
      scope.planner.markRunning(node);
      this.#start({ scope, nodes: [node] }, { wait });
    }
    if (isRunEnded === true) this.#isEndWritten = true;
    if (iteration !== undefined) scope.iterationEnd = iteration;
  }

  async #applyFailure({ scope, nodes, mayWalk }: Work, error: unknown): Promise<void> {
    // A cancelled node stays open here. The end of the run or of its iteration closes it.
    if (isCancellation(error)) return;
    const [node] = nodes;
    const code = failureCode(error);
    const failure = nodeFailureOf(error);
    if (failure !== undefined) {
      const reported = failure.details?.[0] as Walked | undefined;
      return this.#apply(scope, reported ?? { ends: [[node, code]] });
    }
    // The pool of the node was refused, or Temporal has given up on the activity, for example after a timeout. In the
    // latter case it is unknown how the nodes of the activity have ended.
    const left = { ...scope.keyOf(node), nodes: mayWalk, begins: nodes.length, code };
    this.#apply(scope, await CancellationScope.nonCancellable(() => settleWalk(left)));
  }

  /**
   * Must decide in the same way as the activity that reported the failure, because that activity may already have
   * executed the nodes after this one.
   */
  #surviveOrFail(scope: Scope, node: number, code: string): void {
    const handle = mayBeCaught(code) ? handleAfter(code, scope.plan, node) : undefined;
    if (handle === undefined) this.#fail(scope, node, code);
    else scope.planner.survive(node, handle);
  }

  #isGoingOn(scope: Scope): boolean {
    return (this.#phase === 'running' || this.#phase === 'draining') && !scope.isStopped;
  }

  #fail(scope: Scope, node: number, code: string): void {
    scope.planner.fail(node);
    if (scope !== this.#root) return scope.fail(code);
    const { path, nodeId } = scope.keyOf(node);
    this.#error ??= { code, node: { path, nodeId } };
    this.#stop('failing');
  }

  /** Executes nodes in one activity. Agents, waits and loops need several activities, so each is executed alone. */
  async #execute(work: Work): Promise<Walked> {
    const { scope } = work;
    const [node] = work.nodes;
    const kind = scope.plan.kinds[node]!;
    const key = scope.keyOf(node);
    const summary = toMarkdown(scope.plan.labels[node]!);
    if (isFixedAlone(work) || this.#isFixedHere(work)) {
      this.#waiting.forget({ scope, node });
      return takeFixed(this.#toWalk(work), summary);
    }
    if (kind === 'agent') {
      return this.#waiting.runAgent(
        { scope, node },
        {
          key,
          summary,
          place: () => this.#placeOf(work, summary),
          toWalk: (place) => this.#toWalk(work, place),
        },
      );
    }
    if (kind === 'wait' || kind === 'human' || kind === 'workflow') {
      const wait = { kind: kind satisfies WaitKind, key, summary };
      return toWalked(node, await this.#waiting.runWait({ scope, node }, wait));
    }
    if (kind === 'for_each' || kind === 'loop') {
      return toWalked(node, await this.#runLoop(scope, node, kind satisfies LoopKind, summary));
    }
    this.#waiting.forget({ scope, node });
    if (traitsOf(kind).runs === 'inline') return walk(kind satisfies SingleStepKind, this.#toWalk(work), summary);
    const place = this.#placeOf(work, summary);
    // Without pools, nothing may be awaited here: an `await` would change the order of the commands, and the histories
    // of earlier runs are replayed in the order without it.
    const at = place instanceof Promise ? await place : place;
    return walk(kind satisfies SingleStepKind, this.#toWalk(work, at), summary, at);
  }

  /** Returns where the nodes of an activity are executed: a promise if the run has pools. */
  #placeOf({ scope, nodes }: Work, summary: string): Place | Promise<Place> {
    const [first, ...others] = nodes;
    const { ids, pools, takeWithin } = scope.plan;
    const within = takeWithin?.[first];
    if (!this.#hasPools) return within === undefined ? {} : { takeWithin: within };
    const pool = pools?.[first];
    const together = others.length > 0 && { others: others.map((node) => ids[node]!) };
    return enterPool({ ...scope.keyOf(first), ...together, ...(pool !== undefined && { pool }) }, within, summary);
  }

  /** True for a node with a fixed result that starts alone and would otherwise wait for a worker of its pool. */
  #isFixedHere({ scope: { plan, path }, nodes: [node, ...others] }: Work): boolean {
    return (
      this.#hasPools &&
      others.length === 0 &&
      traitsOf(plan.kinds[node]!).runs === 'activity' &&
      isFixed(plan, node, path)
    );
  }

  /** Returns the nodes that the activity may walk through, and records them in `work`. */
  #toWalk(work: Work, { pool }: Place = {}): WalkRef {
    const { scope, nodes } = work;
    const [first] = nodes;
    // A local activity has no heartbeat and holds no slot of the project, so it must not execute nodes that make
    // requests or run code.
    const isLocal =
      traitsOf(scope.plan.kinds[first]!).runs === 'inline' || isFixedAlone(work) || this.#isFixedHere(work);
    const stride = isLocal ? 'visible' : this.#stride;
    const stretchOf = pool === undefined ? stretchFrom : stretchInPool;
    const stretch = stretchOf(scope.plan, scope.planner, nodes, stride);
    work.mayWalk = stretch.nodes;
    const next = stretch.isRest === true ? scope.chooseNext() : undefined;
    return {
      ...scope.keyOf(first),
      ...stretch,
      ...(stride === 'dense' && { stride }),
      ...(next !== undefined && { next }),
    };
  }

  async #runLoop(scope: Scope, node: number, kind: LoopKind, summary: string): Promise<NodeFacts> {
    const body = this.#bodyOf(scope.plan.offset + node);
    const loopNode = { kind, key: scope.keyOf(node), summary, body, only: scope.plan.only?.[node] };
    const loop = new LoopRun(this.#ofLoops, loopNode, scope.resumedLoops.get(node));
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

  /** Waiting nodes and loops call these (`RunOfWaits`, `RunOfLoops`). */
  readonly #slots = {
    leaveSlot: (): void => {
      this.#inFlight--;
      this.#startReady();
    },
    takeSlot: (): void => void this.#inFlight++,
    isElsewhere: (): void => void (this.#hasPools = true),
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
    if (this.#inFlight === 0 && !this.#isParked()) this.#becomeIdle();
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

/** True for a node with a fixed result whose kind takes several activities. */
function isFixedAlone({ scope: { plan, path }, nodes: [node] }: ReadyNodes): boolean {
  const { runs } = traitsOf(plan.kinds[node]!);
  return runs !== 'inline' && runs !== 'activity' && isFixed(plan, node, path);
}

function toWalked(node: number, { handle = 0, alsoHandles = [] }: NodeFacts): Walked {
  return { ends: [[node, handle, ...alsoHandles]] };
}
