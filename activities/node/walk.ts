// A walk attempts the nodes with which its activity starts, and continues with the nodes after them about which no
// other activity decides. It uses the planner of the run workflow on a part of the plan (graph/stretch.ts).
// docs/adr/0011-one-walk.md gives the reasons.
//
// When the process dies, Temporal repeats the activity. The walk then finds the nodes whose ends have been recorded,
// and continues after them.
import { activityInfo, ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type {
  EndIterationFacts,
  EndIterationRef,
  NodeFacts,
  Walked,
  WalkedEnd,
  WalkRef,
} from '../../contract/activities.js';
import { findFixedResult } from '../../db/test-runs/test-runs-repository.js';
import { mayBeCaught } from '../../graph/caught.js';
import { innermostLoop } from '../../graph/iteration-path.js';
import { kinds, traitsOf, type KindThatRuns } from '../../graph/kinds.js';
import { handleAfter, type NodeKey } from '../../graph/plan.js';
import { StretchPlan } from '../../graph/stretch-plan.js';
import type { ProjectSlots } from '../worker/project-slots.js';
import { attemptNode, type AttemptOptions } from './attempt.js';
import { comeBackMs, finalFailure, isFinal, retryDelayOf } from './failures.js';
import { recordFixedResult } from './fixed-result.js';
import { withHeartbeat, type Heartbeat } from './heartbeat.js';
import { handlesOf, type NodeDeps, type NodeRunner } from './node-step.js';
import type { PoolNodes } from './pool-node.js';
import type { StartedRun } from './run-context.js';
import type { ActivityTracer } from './trace-activity.js';
import { NodeWaits } from './wait-for-connection.js';

export type Runners = Record<KindThatRuns<'activity' | 'inline'>, NodeRunner>;

export interface WalkDeps {
  node: NodeDeps;
  runners: Runners;
  slots: Pick<ProjectSlots, 'take' | 'release'>;
  trace: ActivityTracer;
  pools: PoolNodes;
  finishRun: (runId: string) => Promise<void>;
  endIteration: (ref: EndIterationRef) => Promise<EndIterationFacts>;
}

/** Returns undefined for a node that continues in another activity. */
type AttemptFirst = (key: NodeKey, options: AttemptOptions) => Promise<NodeFacts | undefined>;

/**
 * The walk starts no further node later than this after its first nodes have ended, because other branches wait for its
 * report.
 */
const WALK_ON_MS = 10_000;
/** The limit for local activities, counted from their start. They time out after 30 s, and a node may take 20 s. */
const WALK_ON_LOCALLY_MS = 5_000;
/** A node that waits longer for a slot goes back to the run workflow, so that another worker can run it. */
const WAIT_FOR_SLOT_MS = 1_000;
/**
 * For nodes that belong to another pool: the run workflow starts them again after this delay. The delay limits the rate
 * at which a run workflow of an earlier build, which does not know pools, sends them to this pool.
 */
const ASK_AGAIN_MS = 1_000;

/**
 * Attempts the nodes of a walk. Throws the failure of its first node with the report of the walk in its details, or an
 * error after which Temporal retries the activity, or the cancellation. `attemptFirst` replaces the attempt of the
 * first node.
 */
export function walk(deps: WalkDeps, ref: WalkRef, attemptFirst?: AttemptFirst): Promise<Walked> {
  return withHeartbeat(ref.runId, async (heartbeat) => {
    const run = await deps.node.contexts.start(ref.runId);
    return new Walk(deps, ref, { run, heartbeat, attemptFirst }).execute();
  });
}

interface WalkOptions {
  run: StartedRun;
  heartbeat: Heartbeat;
  attemptFirst: AttemptFirst | undefined;
}

/** A `place` is the number of a node in the stretch. */
class Walk {
  readonly #deps: WalkDeps;
  readonly #ref: WalkRef;
  readonly #options: WalkOptions;
  readonly #stretch: StretchPlan;
  readonly #walked: Walked = { ends: [] };
  /** Nodes that the run workflow must start again. */
  readonly #later: [place: number, error: unknown][] = [];
  /** Aborted by a failure that nothing catches. The abort cancels the nodes that are running at the same time. */
  readonly #failed = new AbortController();
  readonly #cancelled = Context.current().cancellationSignal;
  readonly #isLocal = activityInfo().isLocal;
  /** The walk starts no further node after this time of `performance.now()`. */
  #untilMs = Number.POSITIVE_INFINITY;
  #failure: ApplicationFailure | undefined;
  #cancellation: unknown;

  constructor(deps: WalkDeps, ref: WalkRef, options: WalkOptions) {
    this.#deps = deps;
    this.#ref = ref;
    this.#options = options;
    this.#stretch = new StretchPlan(options.run.planOf(ref.path), ref);
    if (this.#isLocal) this.#untilMs = performance.now() + WALK_ON_LOCALLY_MS;
  }

  async execute(): Promise<Walked> {
    const firsts = this.#stretch.planner.ready();
    if (!(await this.#areHere(firsts))) return this.#leaveToTheirPool(firsts);
    for (let next = firsts; next.length > 0;) {
      if (!(await this.#attemptTogether(next)) || !this.#mayGoOn()) break;
      // If a node must be retried or waits, the walk executes only the nodes that `StretchPlan.next` still allows, and
      // then ends with a report of that node.
      const isLeft = this.#later.length > 0 || this.#walked.waits !== undefined;
      next = this.#stretch.next(this.#ref.stride ?? 'visible', isLeft);
    }
    await this.#endScope();
    return this.#conclude(firsts);
  }

  /**
   * False if the nodes belong to another pool than that of this worker. Always true for inline nodes and in a local
   * activity: neither belongs to a pool, and only workers of the default pool get them.
   */
  async #areHere(places: number[]): Promise<boolean> {
    const { runId, path } = this.#ref;
    const [first] = places;
    if (this.#isLocal || first === undefined || this.#isInline(first)) return true;
    const named = this.#options.run.planOf(path).pools?.[this.#stretch.numberOf(first)];
    const nodeIds = places.map((place) => this.#stretch.plan.ids[place]!);
    const { projectId } = this.#options.run;
    return this.#deps.pools.take({ runId, path, projectId, nodeIds, named, attempt: activityInfo().attempt });
  }

  #leaveToTheirPool(places: number[]): Walked {
    const later = places.map((place): [number, number] => [this.#stretch.numberOf(place), ASK_AGAIN_MS]);
    return { ends: [], later, isElsewhere: true };
  }

  #mayGoOn(): boolean {
    const isStopped = this.#cancelled.aborted || this.#failed.signal.aborted;
    return !isStopped && performance.now() < this.#untilMs && this.#options.heartbeat.isRegular;
  }

  /**
   * An activity that is not local holds one slot of its project (`ProjectSlots`), which its first node uses. Unless the
   * nodes are inline, every further node needs its own slot, and is not attempted without it. A local activity needs no
   * slots. Returns false if a node got no slot.
   */
  async #attemptTogether([first, ...others]: number[]): Promise<boolean> {
    const needSlots = !this.#isLocal && !this.#isInline(first!);
    const results = await Promise.all([
      this.#attempt(first!),
      ...others.map((place) => (needSlots ? this.#attemptInSlot(place) : this.#attempt(place))),
    ]);
    if (!this.#isLocal && this.#untilMs === Number.POSITIVE_INFINITY) this.#untilMs = performance.now() + WALK_ON_MS;
    return !results.includes('no slot');
  }

  async #attemptInSlot(place: number): Promise<'no slot' | void> {
    const { slots } = this.#deps;
    const { projectId } = this.#options.run;
    const stop = AbortSignal.any([this.#cancelled, this.#failed.signal]);
    if (!(await slots.take(projectId, WAIT_FOR_SLOT_MS, stop, true))) return 'no slot';
    try {
      if (this.#mayGoOn()) await this.#attempt(place);
    } finally {
      slots.release(projectId);
    }
  }

  #isInline(place: number): boolean {
    return traitsOf(this.#stretch.plan.kinds[place]!).runs === 'inline';
  }

  async #attempt(place: number): Promise<void> {
    const { planner } = this.#stretch;
    planner.markRunning(place);
    try {
      const facts = await this.#makeAttempt(place);
      if (facts === undefined) return;
      const { handle = 0, alsoHandles = [] } = facts;
      this.#report(place, handle, ...alsoHandles);
      planner.succeed(place, handle, ...alsoHandles);
    } catch (error) {
      if (this.#failed.signal.aborted) return;
      if (error instanceof NodeWaits) (this.#walked.waits ??= []).push([this.#stretch.numberOf(place), error.facts]);
      else if (isFinal(error)) this.#fail(place, error);
      else if (this.#isCancelled()) this.#cancellation ??= error;
      else {
        if (!(error instanceof ApplicationFailure)) this.#logUnexpected(place, error);
        this.#later.push([place, error]);
      }
    }
  }

  #logUnexpected(place: number, error: unknown): void {
    const { runId } = this.#ref;
    const node_id = this.#stretch.plan.ids[place];
    this.#deps.node.logger.error(
      { err: error, run_id: runId, node_id },
      'a node failed unexpectedly; it is tried again',
    );
  }

  /** Returns undefined for a node that continues in another activity. */
  async #makeAttempt(place: number): Promise<NodeFacts | undefined> {
    const { node, runners, trace } = this.#deps;
    const { run, attemptFirst } = this.#options;
    const { ids, kinds: kindOf } = this.#stretch.plan;
    const key: NodeKey = { runId: this.#ref.runId, path: this.#ref.path, nodeId: ids[place]! };
    const walkFailed = this.#failed.signal;
    const options: AttemptOptions = place === 0 ? { walkFailed } : { walkFailed, readyAtMs: Date.now() };
    if (place === 0 && attemptFirst !== undefined) return attemptFirst(key, options);
    const fixed = run.isTest ? await findFixedResult(node.db, node.secretBox, key) : undefined;
    if (fixed !== undefined) return trace('takeGiven', key, () => recordFixedResult(node, key, fixed));
    const kind = kindOf[place] as keyof Runners;
    const step = { ...runners[kind], factsOf: handlesOf };
    return trace(kinds[kind].activity, key, () => attemptNode(node, key, step, options));
  }

  #fail(place: number, failure: ApplicationFailure): void {
    const code = failure.type ?? 'internal_error';
    const { planner, plan } = this.#stretch;
    if (place === 0) this.#failure = failure;
    this.#report(place, code);
    const handle = mayBeCaught(code)
      ? handleAfter(code, this.#options.run.planOf(this.#ref.path), this.#stretch.numberOf(place))
      : undefined;
    if (handle !== undefined) return planner.survive(place, handle);
    planner.fail(place);
    this.#failed.abort(new CancelledFailure(`The node ${plan.ids[place]} has failed.`));
  }

  #report(place: number, ...how: [handle: number, ...alsoHandles: number[]] | [code: string]): void {
    this.#walked.ends.push([this.#stretch.numberOf(place), ...how] as WalkedEnd);
  }

  /** Returns false while the worker stops, because another worker retries its nodes. */
  #isCancelled(): boolean {
    return this.#cancelled.aborted && Context.current().cancellationDetails?.workerShutdown !== true;
  }

  /**
   * Records the end of the run or iteration if all its nodes have ended. If that fails, the run workflow records it.
   */
  async #endScope(): Promise<void> {
    const { runId, path, isRest, next } = this.#ref;
    if (isRest !== true || this.#stretch.planner.open > 0 || !this.#mayGoOn()) return;
    try {
      if (path === '') {
        await this.#deps.finishRun(runId);
        this.#walked.isRunEnded = true;
      } else {
        const end = { runId, ...innermostLoop(path), ...(next !== undefined && { next }) };
        this.#walked.iteration = await this.#deps.endIteration(end);
      }
    } catch (error) {
      this.#deps.node.logger.debug({ err: error, run_id: runId }, 'an end was not recorded; the run workflow does it');
    }
  }

  #conclude(firsts: number[]): Walked {
    const walked = this.#walked;
    if (walked.isRunEnded === true) return walked;
    if (this.#cancellation !== undefined) throw this.#cancellation;
    const [only, ...others] = this.#later;
    // If only the first node must be retried and there is nothing to report, Temporal retries the activity.
    if (only?.[0] === 0 && others.length === 0 && walked.ends.length === 0 && firsts.length === 1) throw only[1];
    if (!this.#failed.signal.aborted) {
      const later = this.#later.map(([place, error]): [number, number] => [place, retryDelayOf(error) ?? comeBackMs()]);
      // Nodes that got no slot are reported, because the run workflow regards them as running.
      for (const place of firsts) if (this.#stretch.planner.isReady(place)) later.push([place, 0]);
      if (later.length > 0) walked.later = later.map(([place, ms]) => [this.#stretch.numberOf(place), ms]);
    }
    if (this.#failure !== undefined) throw finalFailure(this.#failure.type ?? 'internal_error', walked);
    return walked;
  }
}
