// The frame around every node: claim, heartbeat, run, record. What a kind does itself is in <kind>.ts.
//
// When the process dies: before the claim, nothing happened. After it, the next try finds `in progress` and runs the
// node again (calls that must not repeat are guarded by the ledger). After the record, the next try finds the stored
// end and returns it without running anything. A local try of a run that has only just begun has nothing to find and
// leaves the claim out (fresh-runs.ts): the next try is then counted as the first.
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import type { Logger } from '../config/logger.js';
import type { Database } from '../db/client.js';
import {
  claimNode,
  findNodeClaim,
  type NodeClaim,
  type NodeEnd as NodeEndRow,
  type NodeKey,
} from '../db/node-results-repository.js';
import type { SecretBox } from '../db/secret-box.js';
import type { Branch, NodeKind } from '../graph/plan.js';
import { RenderedTooLargeError, type NodeOutput } from '../graph/template.js';
import {
  finalFailure,
  isFinal,
  NodeFailure,
  retryableFailure,
  retryDelayOf,
  runClosedFailure,
  type Charge,
} from './failures.js';
import type { FreshRuns } from './fresh-runs.js';
import { reportTry } from './node-log.js';
import { recordNode, type NodeEnd } from './record-node.js';
import type { ByteBudget, ByteLease } from '../outgoing/byte-budget.js';
import type { RunContext, RunContexts, RunNode } from './run-context.js';
import { untilAborted } from '../outgoing/until-aborted.js';
import { createStopSignal } from './stop-signal.js';
import { recordStart } from './trigger.js';
import { runInTurn } from './tries-in-turn.js';
import type { TryOutcome, WorkerMetrics } from './worker-metrics.js';

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
export type NodeRef = NodeKey;
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
/** A provider that asks for more patience than this is answered with a failed node. */
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;
const LONGEST_DELAY_MS = 60_000;

/** A local try whose call takes longer is cut, and the node goes on as a normal activity. */
const LOCAL_TRY_MS = 1_000;
/**
 * A local try that has not even ended by then (the database makes it wait) leaves the node to a normal activity at once.
 * Below the 4 s that the run workflow gives it.
 */
const HAND_OVER_MS = 2_000;
const GO_ON_NOW: NodeFacts = { goOnAfterMs: 0 };

/** Runs a node that calls something outside: a normal activity, or a local one for a node that has been quick of late. */
export function runNode(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  return activityInfo().isLocal ? tryNodeLocally(deps, ref, runner) : runStep(deps, ref, toStep(runner));
}

/**
 * One try that counts like any other. A repeated workflow task repeats this activity too: the claim then finds the end
 * that was stored, or counts a try that died. What another try may mend is left to the normal activity. It waits here for
 * a try that still has an answer to record, so that a database which is away costs no second call.
 */
async function tryNodeLocally(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  const { cancellationSignal } = Context.current();
  const handOver = AbortSignal.timeout(HAND_OVER_MS);
  const isFirst = deps.fresh.isFirst(ref);
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
  }
}

/** `claim`: undefined for the first try of a fresh run's node, which is claimed when it has to count. */
async function tryOnceLocally(
  deps: NodeDeps,
  ref: NodeRef,
  step: NodeStep<NodeFacts>,
  claim: NodeClaim | undefined,
): Promise<NodeFacts> {
  if (claim?.status === 'succeed') return step.settled(claim);
  const { cancellationSignal } = Context.current();
  const limit = AbortSignal.timeout(LOCAL_TRY_MS);
  try {
    return await tryStep(deps, ref, step, claim?.attempts ?? 1, limit);
  } catch (error) {
    if (cancellationSignal.aborted) throw error;
    const delayMs = limit.aborted ? 0 : retryDelayOf(error);
    if (delayMs === undefined || isFinal(error)) throw error;
    if (claim === undefined) await claimOrSettle(deps, ref);
    return { goOnAfterMs: delayMs };
  }
}

/** Runs the trigger: a local activity. Done again it changes nothing, so it is not asked whether it was done. */
export function runTrigger(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  deps.fresh.forget(ref.runId);
  return tryStep(deps, ref, { ...toStep(runner), store: (end) => recordStart(deps, end) }, 1);
}

/** Runs a node that only reads and decides: a local activity, repeated by Temporal when its workflow task is. */
export async function runLocalNode(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  const known = deps.fresh.isFirst(ref) ? undefined : await findNodeClaim(deps.db, ref);
  if (known !== undefined && known.status !== 'in progress') return settledFacts(known);
  return tryStep(deps, ref, toStep(runner), 1);
}

/** Runs one step of a node as a normal activity. */
export async function runStep<Facts>(deps: NodeDeps, ref: NodeRef, step: NodeStep<Facts>): Promise<Facts> {
  const beat = setInterval(() => heartbeat(), HEARTBEAT_EVERY_MS);
  const { info, cancellationSignal } = Context.current();
  try {
    return await runInTurn(`${ref.runId}/${info.activityId}`, cancellationSignal, async () => {
      const claim = await claimOrSettle(deps, ref);
      if (claim.status === 'succeed') return step.settled(claim);
      return tryStep(deps, ref, step, step.attemptOf(claim));
    });
  } finally {
    clearInterval(beat);
  }
}

/** Throws what an earlier try has ended the node with. */
async function claimOrSettle(deps: NodeDeps, ref: NodeRef): Promise<NodeClaim> {
  const claim = await claimNode(deps.db, ref);
  if (claim === undefined) throw runClosedFailure();
  if (claim.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
  return claim;
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
  return claim.branch === 0 ? {} : { branch: claim.branch };
}

/** `limit`: when it is aborted, so is the try, and nothing is recorded. */
async function tryStep<Facts>(
  deps: NodeDeps,
  ref: NodeRef,
  step: NodeStep<Facts>,
  attempt: number,
  limit?: AbortSignal,
): Promise<Facts> {
  const run = await deps.contexts.load(ref.runId);
  const node = run.node(ref.nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const { runId, nodeId } = ref;
  const stop = createStopSignal(Context.current());
  const signal = limit === undefined ? stop.signal : AbortSignal.any([stop.signal, limit]);
  const startedAt = performance.now();
  const memory = deps.memory.lease(signal);
  const task: NodeTask = { runId, nodeId, run, node, signal, stop: stop.signal, memory, startedAt };
  const record = (end: NodeEnd) => recordNode(deps, step, task, end);
  const tell = (outcome: TryOutcome, code?: string, delayMs?: number): void => {
    deps.metrics.trySeconds.observe({ kind: node.kind, outcome }, (performance.now() - startedAt) / 1000);
    reportTry(deps.logger, task, { outcome, attempt, code, delayMs });
  };
  try {
    if (attempt > step.maxAttempts) {
      throw new NodeFailure('worker_lost', `The node was given up: its worker died ${attempt - 1} times while it ran.`);
    }
    const facts = await step.perform(task, (outcome) => record({ outcome }));
    tell('ended');
    return facts;
  } catch (thrown) {
    const error = thrown instanceof RenderedTooLargeError ? tooLarge(thrown) : thrown;
    if (stop.signal.aborted) {
      tell(Context.current().cancellationDetails?.workerShutdown ? 'handed_back' : 'cancelled');
      return await stopNode(error, record);
    }
    if (limit?.aborted) {
      tell('cut');
      throw error;
    }
    if (!(error instanceof NodeFailure)) {
      tell('internal_error');
      throw error;
    }
    const delayMs = error.retryAfterMs ?? Math.min(step.firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
    if (error.isRetryable && attempt < step.maxAttempts && delayMs <= LONGEST_RETRY_AFTER_MS) {
      tell('retried', error.code, delayMs);
      throw retryableFailure(error.code, delayMs);
    }
    await record({ failure: error });
    tell('ended', error.code);
    throw finalFailure(error.code);
  } finally {
    stop.release();
    task.memory.end();
  }
}

/** The run was cancelled (or another node failed): settle as cancelled. A stopping worker hands the node back. */
async function stopNode(error: unknown, record: (end: NodeEnd) => Promise<void>): Promise<never> {
  const reason = Context.current().cancellationDetails;
  if (reason?.workerShutdown) throw retryableFailure('worker_shutdown', 0);
  if (reason?.cancelRequested) {
    const charge = error instanceof NodeFailure ? error.charge : undefined;
    await record({
      failure: new NodeFailure('cancelled', 'The node was cancelled because the run ended.', { charge }),
    });
  }
  return Context.current().cancelled;
}

function tooLarge({ message }: RenderedTooLargeError): NodeFailure {
  return new NodeFailure('rendered_too_large', message);
}
