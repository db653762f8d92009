// The frame around every node: claim, heartbeat, run, record. What a kind does itself is in <kind>.ts.
//
// When the process dies: before the claim, nothing happened. After it, the next try finds `in progress` and runs the
// node again (calls that must not repeat are guarded by the ledger). After the record, the next try finds the stored
// end and returns it without running anything. The first try of a node whose run has only just begun has nothing to find
// and leaves the claim out (fresh-runs.ts): should it die, the next one is counted as the first.
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import type { Logger } from '../../config/logger.js';
import type { Database } from '../../db/core/client.js';
import {
  claimNode,
  findNodeClaim,
  type NodeClaim,
  type NodeEnd as NodeEndRow,
} from '../../db/nodes/node-results-repository.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { NodeKey, Branch, NodeKind } from '../../graph/plan.js';
import { isRepeatable as mayBeRepeated } from '../../graph/placement.js';
import type { NodeOutput } from '../../graph/template.js';
import { finalFailure, isFinal, retryDelayOf, type Charge } from './failures.js';
import type { FreshRuns } from './fresh-runs.js';
import { claimOrSettle, tryStep } from './node-try.js';
import type { ByteBudget, ByteLease } from '../../outgoing/byte-budget.js';
import type { RunContext, RunContexts, RunNode } from './run-context.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import { recordStart } from '../kinds/trigger.js';
import { runInTurn } from './tries-in-turn.js';
import type { WorkerMetrics } from '../worker/worker-metrics.js';

export interface NodeDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  fresh: FreshRuns;
  /** What the nodes of all runs may keep in memory together. */
  memory: ByteBudget;
  logger: Logger;
  metrics: WorkerMetrics;
}

/** All that a node activity gets from and gives to the run workflow, and so to Temporal's history. */
export interface NodeRef extends NodeKey {
  /** As far as the run workflow can know, nobody has begun the node before (fresh-runs.ts says when that is enough). */
  isFirst?: boolean;
}
/** A node as an activity does it. */
export interface NodeTurn extends NodeRef {
  /** Aborted when a node beside it, in the same activity, has failed: it stops as if its run were cancelled. */
  givenUp?: AbortSignal;
}
export interface NodeFacts {
  branch?: Branch;
  /** A local try has left the node undone: a normal activity goes on with it after this delay. */
  goOnAfterMs?: number;
}

export interface NodeOutcome {
  output: NodeOutput;
  /** What readers get instead, where more of it is secret than the masker finds. */
  publicOutput?: NodeOutput;
  branch?: Branch;
  charge?: Charge;
}

export interface NodeTask extends NodeKey {
  run: RunContext;
  node: RunNode;
  /** Aborted when the run is cancelled or the worker must stop: stop-signal.ts. */
  stop: AbortSignal;
  /** Aborted with it, and when a local try takes too long. */
  signal: AbortSignal;
  /** This node's part of the worker's memory. */
  memory: ByteLease;
  /** When this try began, by `performance.now()`. */
  startedAt: number;
}

export interface NodeKindRunner {
  kind: NodeKind;
  /** Tries in all, the first included; tries that a dying worker took down count. */
  maxAttempts: number;
  /** Delay before the second try; doubles after that, unless the other side says how long. */
  firstDelayMs: number;
  execute(task: NodeTask): Promise<NodeOutcome>;
}

/** What an activity does for a node: all of it (`NodeKindRunner`), or one step of several (agents). */
export interface NodeStep<Facts> {
  maxAttempts: number;
  firstDelayMs: number;
  /** Which try this is. */
  attemptOf(claim: NodeClaim): number;
  /** What to answer when an earlier try has settled the node. */
  settled(claim: NodeClaim): Facts;
  /** Does the work; `end` records the node as succeeded. */
  perform(task: NodeTask, end: (outcome: NodeOutcome) => Promise<void>): Promise<Facts>;
  /** Money that the node has spent in steps before this one. */
  chargeSoFar?: (task: NodeTask) => Promise<Charge>;
  /** Stores the node's end; by default `recordNodeEnd`. False for a repeat. */
  store?: (end: NodeEndRow) => Promise<boolean>;
}

const HEARTBEAT_EVERY_MS = 2_000;

/** A local try whose call takes longer is cut, and the node goes on as a normal activity. */
const LOCAL_TRY_MS = 1_000;
/**
 * A local try that has not even ended by then (the database makes it wait) leaves the node to a normal activity at once.
 * Well below the time that the run workflow gives the activity.
 */
const HAND_OVER_MS = 2_000;
const GO_ON_NOW: NodeFacts = { goOnAfterMs: 0 };

/** A normal activity that takes longer than this is marked as begun, for whoever polls and whoever tries it next. */
const UNMARKED_MS = 200;

/** Runs a node that calls something outside: in a normal activity, or a local one for a node that has been quick of late. */
export async function runNode(deps: NodeDeps, ref: NodeTurn, runner: NodeKindRunner): Promise<NodeFacts> {
  if (activityInfo().isLocal) return tryNodeLocally(deps, ref, runner);
  const step = toStep(runner);
  if (await isFirstTry(deps, ref)) return tryUnclaimed(deps, ref, step);
  return tryClaimed(deps, ref, step);
}

/** What costs money, or must not be repeated, is always claimed: its call is looked for by its node. */
async function isFirstTry(deps: NodeDeps, ref: NodeRef): Promise<boolean> {
  if (ref.isFirst !== true || activityInfo().attempt > 1) return false;
  const run = await deps.contexts.load(ref.runId);
  const node = run.node(ref.nodeId);
  if (node === undefined || !mayBeRepeated(node.kind, node.data)) return false;
  return deps.fresh.isFirst(ref);
}

/** The try counts once it has taken a while, or failed in a way that another one may mend. */
async function tryUnclaimed<Facts>(deps: NodeDeps, ref: NodeTurn, step: NodeStep<Facts>): Promise<Facts> {
  let claim: Promise<unknown> | undefined;
  const mark = (): Promise<unknown> => (claim ??= claimNode(deps.db, ref).catch(() => undefined));
  const timer = setTimeout(() => void mark(), UNMARKED_MS);
  try {
    return await tryStep(deps, ref, step, 1);
  } catch (error) {
    if (!isFinal(error)) await mark();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * One try that counts like any other. A repeated workflow task repeats this activity too: the claim then finds the end
 * that was stored, or counts a try that died. What another try may mend is left to the normal activity. It waits here for
 * a try that still has an answer to record, so that a database which is away costs no second call.
 */
async function tryNodeLocally(deps: NodeDeps, ref: NodeTurn, runner: NodeKindRunner): Promise<NodeFacts> {
  const { cancellationSignal } = Context.current();
  const handingOver = startDeadline(HAND_OVER_MS);
  const { signal: handOver } = handingOver;
  const isFirst = ref.isFirst === true && deps.fresh.isFirst(ref);
  const attempt = runInTurn(`${ref.runId}/${ref.nodeId}`, cancellationSignal, async () => {
    if (isFirst) return tryOnceLocally(deps, ref, toStep(runner), undefined);
    const claim = await claimOrSettle(deps, ref);
    // Left to the normal activity, which may run anywhere by now: nothing may begin here any more.
    if (handOver.aborted) return GO_ON_NOW;
    return tryOnceLocally(deps, ref, toStep(runner), claim);
  });
  try {
    return await untilAborted(attempt, handOver);
  } catch (error) {
    if (handOver.aborted && error === handOver.reason) return GO_ON_NOW;
    throw error;
  } finally {
    handingOver.clear();
  }
}

/** `claim`: undefined for the first try of a fresh run's node, which is claimed when it has to count. */
async function tryOnceLocally(
  deps: NodeDeps,
  ref: NodeTurn,
  step: NodeStep<NodeFacts>,
  claim: NodeClaim | undefined,
): Promise<NodeFacts> {
  if (claim?.status === 'succeed') return step.settled(claim);
  const { cancellationSignal } = Context.current();
  const limit = startDeadline(LOCAL_TRY_MS);
  try {
    return await tryStep(deps, ref, step, claim?.attempts ?? 1, limit.signal);
  } catch (error) {
    if (cancellationSignal.aborted) throw error;
    const delayMs = limit.signal.aborted ? 0 : retryDelayOf(error);
    if (delayMs === undefined || isFinal(error)) throw error;
    if (claim === undefined) await claimOrSettle(deps, ref);
    return { goOnAfterMs: delayMs };
  } finally {
    limit.clear();
  }
}

/** Runs the trigger, in a local activity. Done again it changes nothing, so it is not asked whether it was done. */
export function runTrigger(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  deps.fresh.forget(ref.runId);
  return tryStep(deps, ref, { ...toStep(runner), store: (end) => recordStart(deps, end) }, 1);
}

/** Runs a node that only reads and decides. Repeated when its activity is. */
export async function runLocalNode(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  const known = deps.fresh.isFirst(ref) ? undefined : await findNodeClaim(deps.db, ref);
  if (known !== undefined && known.status !== 'in progress') return settledFacts(known);
  return tryStep(deps, ref, toStep(runner), 1);
}

/** Runs one step of a node as a normal activity. */
export function runStep<Facts>(deps: NodeDeps, ref: NodeRef, step: NodeStep<Facts>): Promise<Facts> {
  return inTurn(ref, () => tryClaimed(deps, ref, step));
}

/** A normal activity: it beats (with how far it has come, where that is said), and waits for its own earlier tries. */
export async function inTurn<Facts>(
  ref: NodeKey,
  work: () => Promise<Facts>,
  progress?: () => unknown,
): Promise<Facts> {
  const beat = setInterval(() => heartbeat(progress?.()), HEARTBEAT_EVERY_MS);
  const { info, cancellationSignal } = Context.current();
  try {
    return await runInTurn(`${ref.runId}/${info.activityId}`, cancellationSignal, work);
  } finally {
    clearInterval(beat);
  }
}

async function tryClaimed<Facts>(deps: NodeDeps, ref: NodeTurn, step: NodeStep<Facts>): Promise<Facts> {
  const claim = await claimOrSettle(deps, ref);
  if (claim.status === 'succeed') return step.settled(claim);
  return tryStep(deps, ref, step, step.attemptOf(claim));
}

function toStep(runner: NodeKindRunner): NodeStep<NodeFacts> {
  return {
    ...runner,
    attemptOf: (claim) => claim.attempts,
    settled: settledFacts,
    async perform(task, end) {
      const outcome = await runner.execute(task);
      await end(outcome);
      return outcome.branch === undefined ? {} : { branch: outcome.branch };
    },
  };
}

function settledFacts(claim: NodeClaim): NodeFacts {
  if (claim.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
  return claim.handle === 0 ? {} : { branch: claim.handle as Branch };
}
