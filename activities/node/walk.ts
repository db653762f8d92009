// The walk of an activity: it executes its node and goes on through the nodes after it that it may decide by itself, with
// the planner of the run workflow on its part of the plan (graph/stretch.ts). docs/adr/0011-one-walk.md gives the reasons.
//
// When the process dies, Temporal repeats the activity. The walk finds the nodes that have been recorded, and goes on
// behind them.
import { activityInfo, ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type {
  EndIterationFacts,
  EndIterationRef,
  NodeFacts,
  Walked,
  WalkedEnd,
  WalkRef,
} from '../../contract/activities.js';
import { mayBeCaught } from '../../graph/caught.js';
import { innermostLoop } from '../../graph/iteration-path.js';
import { traitsOf } from '../../graph/kinds.js';
import { handleAfter, type NodeKey, type ScopePlan } from '../../graph/plan.js';
import { StretchPlan } from '../../graph/stretch-plan.js';
import type { ProjectSlots } from '../worker/project-slots.js';
import { finalFailure, isFinal, retryDelayOf } from './failures.js';
import type { NodeBeginning, NodeDeps } from './node-step.js';
import type { Pulse } from './heartbeat.js';
import { NodeWaits } from './wait-for-connection.js';

/**
 * Executes one node. Returns undefined for a node that continues in another activity. Rejects with its failure, or with a
 * failure after which it is attempted again.
 */
export type ExecuteNode = (key: NodeKey, beginning: NodeBeginning) => Promise<NodeFacts | undefined>;

export interface WalkDeps {
  node: NodeDeps;
  /** Executes a node that is not the first one. */
  execute: ExecuteNode;
  slots: Pick<ProjectSlots, 'take' | 'release'>;
  /** Writes that the run has succeeded. */
  endRun: (runId: string) => Promise<void>;
  endIteration: (ref: EndIterationRef) => Promise<EndIterationFacts>;
}

/** No further node begins later than this after the first one has ended, because other branches wait for the report. */
const WALK_ON_MS = 10_000;
/** The limit for local activities, counted from their beginning. They time out after 30 s, and a node may take 20 s. */
const WALK_ON_LOCALLY_MS = 5_000;
/** A node that waits longer for a slot goes back to Temporal, where another worker may take it. */
const WAIT_FOR_SLOT_MS = 1_000;

/**
 * Executes the nodes of a walk. Throws the failure of its first node, which holds what was walked through; a failure by
 * which the activity is attempted again; or the cancellation.
 */
export async function walk(deps: WalkDeps, ref: WalkRef, executeFirst: ExecuteNode, pulse: Pulse): Promise<Walked> {
  const run = await deps.node.contexts.take(ref.runId);
  return new Walk(deps, ref, { plan: run.planOf(ref.path), projectId: run.projectId, executeFirst, pulse }).execute();
}

interface WalkOptions {
  plan: ScopePlan;
  projectId: number;
  executeFirst: ExecuteNode;
  pulse: Pulse;
}

/** Identifies nodes by their places in the stretch. */
class Walk {
  readonly #deps: WalkDeps;
  readonly #ref: WalkRef;
  readonly #options: WalkOptions;
  readonly #stretch: StretchPlan;
  readonly #walked: Walked = { ends: [] };
  /** Nodes that the run workflow has to start again. */
  readonly #later: [place: number, error: unknown][] = [];
  /** Aborted by a failure that nothing catches. This stops the nodes that are executed at the same time. */
  readonly #givingUp = new AbortController();
  readonly #cancelled = Context.current().cancellationSignal;
  readonly #isLocal = activityInfo().isLocal;
  /** No further node begins after this moment of `performance.now()`. */
  #untilMs = Number.POSITIVE_INFINITY;
  /** The failure of the first node. */
  #failure: ApplicationFailure | undefined;
  #cancellation: unknown;

  constructor(deps: WalkDeps, ref: WalkRef, options: WalkOptions) {
    this.#deps = deps;
    this.#ref = ref;
    this.#options = options;
    this.#stretch = new StretchPlan(options.plan, ref);
    if (this.#isLocal) this.#untilMs = performance.now() + WALK_ON_LOCALLY_MS;
  }

  async execute(): Promise<Walked> {
    const firsts = this.#stretch.planner.ready();
    for (let next = firsts; next.length > 0;) {
      // A node that has found no slot goes back to Temporal.
      if (!(await this.#executeAtOnce(next)) || !this.#mayGoOn()) break;
      // A node that has to be attempted again, or waits, is reported first.
      const isLeft = this.#later.length > 0 || this.#walked.waits !== undefined;
      next = this.#stretch.next(this.#ref.stride ?? 'visible', isLeft);
    }
    await this.#endScope();
    return this.#conclude(firsts);
  }

  #mayGoOn(): boolean {
    const isStopped = this.#cancelled.aborted || this.#givingUp.signal.aborted;
    return !isStopped && performance.now() < this.#untilMs && this.#options.pulse.isRegular;
  }

  /**
   * The activity holds one slot. Every further node that leaves the process needs one, or does not begin. Returns whether
   * all have begun.
   */
  async #executeAtOnce([first, ...others]: number[]): Promise<boolean> {
    const { slots } = this.#deps;
    const { projectId } = this.#options;
    const stop = AbortSignal.any([this.#cancelled, this.#givingUp.signal]);
    let haveAllBegun = true;
    const executeInSlot = async (place: number): Promise<void> => {
      if (!(await slots.take(projectId, WAIT_FOR_SLOT_MS, stop))) {
        haveAllBegun = false;
        return;
      }
      try {
        if (this.#mayGoOn()) await this.#execute(place);
      } finally {
        slots.release(projectId);
      }
    };
    const execute = this.#isLocal || this.#isInline(first!) ? (place: number) => this.#execute(place) : executeInSlot;
    await Promise.all([this.#execute(first!), ...others.map(execute)]);
    if (!this.#isLocal && this.#untilMs === Number.POSITIVE_INFINITY) this.#untilMs = performance.now() + WALK_ON_MS;
    return haveAllBegun;
  }

  #isInline(place: number): boolean {
    return traitsOf(this.#stretch.plan.kinds[place]!).runs === 'inline';
  }

  async #execute(place: number): Promise<void> {
    const { planner, plan } = this.#stretch;
    const { runId, path } = this.#ref;
    const isFirst = place === 0;
    const beginning = { givenUp: this.#givingUp.signal, ...(!isFirst && { readyAtMs: Date.now() }) };
    planner.takeThis(place);
    try {
      const execute = isFirst ? this.#options.executeFirst : this.#deps.execute;
      const facts = await execute({ runId, path, nodeId: plan.ids[place]! }, beginning);
      if (facts === undefined) return;
      const { handle = 0, alsoHandles = [] } = facts;
      this.#report(place, handle, ...alsoHandles);
      planner.succeed(place, handle, ...alsoHandles);
    } catch (error) {
      if (this.#givingUp.signal.aborted) return;
      if (error instanceof NodeWaits) (this.#walked.waits ??= []).push([this.#stretch.numberOf(place), error.facts]);
      else if (error instanceof ApplicationFailure && isFinal(error)) this.#fail(place, error);
      else if (this.#isCancelled()) this.#cancellation ??= error;
      else this.#later.push([place, error]);
    }
  }

  #fail(place: number, failure: ApplicationFailure): void {
    const code = failure.type ?? 'internal_error';
    const { planner, plan } = this.#stretch;
    if (place === 0) this.#failure = failure;
    this.#report(place, code);
    const handle = mayBeCaught(code) ? handleAfter(code, this.#options.plan, this.#stretch.numberOf(place)) : undefined;
    if (handle !== undefined) return planner.survive(place, handle);
    planner.fail(place);
    this.#givingUp.abort(new CancelledFailure(`The node ${plan.ids[place]} has failed.`));
  }

  #report(place: number, ...how: [handle: number, ...alsoHandles: number[]] | [code: string]): void {
    this.#walked.ends.push([this.#stretch.numberOf(place), ...how] as WalkedEnd);
  }

  /** Returns false while the worker stops: its nodes are attempted again, by another worker. */
  #isCancelled(): boolean {
    return this.#cancelled.aborted && Context.current().cancellationDetails?.workerShutdown !== true;
  }

  /** Writes the end of the run or the iteration when all its nodes have ended. If that fails, the run workflow does it. */
  async #endScope(): Promise<void> {
    const { runId, path, isRest, next } = this.#ref;
    if (isRest !== true || this.#stretch.planner.open > 0 || !this.#mayGoOn()) return;
    try {
      if (path === '') {
        await this.#deps.endRun(runId);
        this.#walked.isRunEnded = true;
      } else {
        const end = { runId, ...innermostLoop(path), ...(next !== undefined && { next }) };
        this.#walked.iteration = await this.#deps.endIteration(end);
      }
    } catch (error) {
      this.#deps.node.logger.debug({ err: error, run_id: runId }, 'the run workflow writes the end');
    }
  }

  #conclude(firsts: number[]): Walked {
    const walked = this.#walked;
    if (walked.isRunEnded === true) return walked;
    if (this.#cancellation !== undefined) throw this.#cancellation;
    const [only, ...others] = this.#later;
    // When only the first node has to be attempted again and there is nothing to report, Temporal repeats the activity.
    if (only?.[0] === 0 && others.length === 0 && walked.ends.length === 0 && firsts.length === 1) throw only[1];
    if (!this.#givingUp.signal.aborted) {
      const later = this.#later.map(([place, error]): [number, number] => [place, retryDelayOf(error) ?? 0]);
      // Nodes that found no slot are handed back, because the run workflow regards them as running.
      for (const place of firsts) if (this.#stretch.planner.isReady(place)) later.push([place, 0]);
      if (later.length > 0) walked.later = later.map(([place, ms]) => [this.#stretch.numberOf(place), ms]);
    }
    if (this.#failure !== undefined) throw finalFailure(this.#failure.type ?? 'internal_error', walked);
    return walked;
  }
}
