// One attempt of a node's step, from its claim to the record of its end.
import { Context } from '@temporalio/activity';
import { claimNode, findNodeClaim, type NodeClaim } from '../../db/nodes/node-results-repository.js';
import { NodeError } from '../../graph/node-error.js';
import type { NodeKey } from '../../graph/plan.js';
import { finalFailure, NodeFailure, retryableFailure, runClosedFailure } from './failures.js';
import { logAttempt } from './node-log.js';
import { recordNode, type NodeEnd } from './record-node.js';
import type { NodeDeps, NodeStep, NodeTask } from './node-step.js';
import { createStopSignal } from './stop-signal.js';
import type { AttemptOutcome } from '../worker/worker-metrics.js';

/** A node fails when a provider asks for a longer delay than this. */
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * Throws the failure with which an earlier attempt has ended the node. It also finds the end of a node in a run that
 * has ended, because the run's last activity may be repeated: its worker died after it had reported the end, or an
 * operator has reset the run.
 */
export async function claimOrSettle(deps: NodeDeps, key: NodeKey): Promise<NodeClaim> {
  const claim = (await claimNode(deps.db, key)) ?? (await findEnd(deps, key));
  if (claim === undefined) throw runClosedFailure();
  if (claim.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
  return claim;
}

async function findEnd({ db }: NodeDeps, key: NodeKey): Promise<NodeClaim | undefined> {
  const known = await findNodeClaim(db, key);
  return known?.status === 'in progress' ? undefined : known;
}

interface AttemptOptions {
  /** The number of this attempt. */
  attempt: number;
  /** Aborting it aborts the attempt, and nothing is recorded. */
  limit?: AbortSignal | undefined;
  /** Aborting it stops the node as if its run were cancelled. */
  givenUp?: AbortSignal | undefined;
}

export async function attemptStep<Facts>(
  deps: NodeDeps,
  { runId, path, nodeId }: NodeKey,
  step: NodeStep<Facts>,
  { attempt, limit, givenUp }: AttemptOptions,
): Promise<Facts> {
  const run = await deps.contexts.load(runId);
  const node = run.node(nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const stop = createStopSignal(Context.current(), givenUp);
  const signal = limit === undefined ? stop.signal : AbortSignal.any([stop.signal, limit]);
  const startedAt = performance.now();
  const memory = deps.memory.lease(signal);
  const task: NodeTask = { runId, path, nodeId, run, node, signal, stop: stop.signal, memory, startedAt };
  const record = (end: NodeEnd) => recordNode(deps, step, task, end);
  const observe = (outcome: AttemptOutcome, code?: string, delayMs?: number): void => {
    deps.metrics.attemptSeconds.observe({ kind: node.kind, outcome }, (performance.now() - startedAt) / 1000);
    logAttempt(deps.logger, task, { outcome, attempt, code, delayMs });
  };
  try {
    if (attempt > step.maxAttempts) {
      throw new NodeFailure('worker_lost', `The node was given up: its worker died ${attempt - 1} times while it ran.`);
    }
    const facts = await performStep(step, task, record);
    observe('ended');
    return facts;
  } catch (thrown) {
    const error = toFailure(thrown);
    if (stop.signal.aborted) {
      observe(Context.current().cancellationDetails?.workerShutdown ? 'handed_back' : 'cancelled');
      return await stopNode(error, record, givenUp);
    }
    if (limit?.aborted) {
      observe('cut');
      throw error;
    }
    if (!(error instanceof NodeFailure)) {
      observe('internal_error');
      throw error;
    }
    const delayMs = error.retryAfterMs ?? Math.min(step.firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
    if (error.isRetryable && attempt < step.maxAttempts && delayMs <= LONGEST_RETRY_AFTER_MS) {
      observe('retried', error.code, delayMs);
      throw retryableFailure(error.code, delayMs);
    }
    const stored = await record({ failure: error });
    observe('ended', error.code);
    if (stored !== undefined) return step.settled(stored);
    throw finalFailure(error.code);
  } finally {
    stop.release();
    task.memory.end();
  }
}

type Recorder = (end: NodeEnd) => Promise<NodeClaim | undefined>;

/**
 * An attempt that is repeated may come to another end than the first one: a condition may refer to a node that runs
 * concurrently with it and has ended meanwhile. The end that is recorded counts.
 */
export async function performStep<Facts>(
  step: Pick<NodeStep<Facts>, 'perform' | 'settled'>,
  task: NodeTask,
  record: Recorder,
): Promise<Facts> {
  const earlier: NodeClaim[] = [];
  const facts = await step.perform(task, async (outcome) => {
    const stored = await record({ outcome });
    if (stored !== undefined) earlier.push(stored);
  });
  const [stored] = earlier;
  return stored === undefined ? facts : step.settled(stored);
}

/** What `graph/` throws fails the node like any other failure. */
function toFailure(thrown: unknown): unknown {
  if (!(thrown instanceof NodeError) || thrown instanceof NodeFailure) return thrown;
  return new NodeFailure(thrown.code, thrown.message);
}

/** The run was cancelled (or another node failed): settle as cancelled. A stopping worker hands the node back. */
async function stopNode(error: unknown, record: Recorder, givenUp: AbortSignal | undefined): Promise<never> {
  const reason = Context.current().cancellationDetails;
  if (reason?.workerShutdown) throw retryableFailure('worker_shutdown', 0);
  if (reason?.cancelRequested || givenUp?.aborted) {
    const charge = error instanceof NodeFailure ? error.charge : undefined;
    await record({
      failure: new NodeFailure('cancelled', 'The node was cancelled because the run ended.', { charge }),
    });
  }
  givenUp?.throwIfAborted();
  return Context.current().cancelled;
}
