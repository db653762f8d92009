// One attempt of a node's step, from its claim to the record of its end.
import { Context } from '@temporalio/activity';
import { isDataException } from '../../db/core/client.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { claimNode, findNodeClaim, type NodeClaim } from '../../db/nodes/node-results-repository.js';
import { NodeError } from '../../graph/node-error.js';
import { retryPolicyOf, type RetryPolicy } from '../../graph/nodes/every-node.js';
import type { NodeKey } from '../../graph/plan.js';
import {
  finalFailure,
  isHandedBack,
  NodeFailure,
  quotaFailure,
  retryableFailure,
  runClosedFailure,
} from './failures.js';
import { keepAttempt, takeBack } from './keep-attempt.js';
import { logAttempt, type AttemptOutcome } from './node-log.js';
import { recordNode, type AttemptEnd } from './record.js';
import type { NodeDeps, NodeStep, NodeTask } from './node-step.js';
import { ConnectionNeeded } from '../connections/use-connection.js';
import { NodeWaits, waitForConnection } from './wait-for-connection.js';
import { createStopSignal } from './stop-signal.js';

/** A node fails when a provider asks for a longer delay than this. */
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;
const LONGEST_DELAY_MS = 60_000;

/** The node's own `retry` counts before what its kind says. */
function policyOf({ maxAttempts, firstDelayMs }: NodeStep<unknown>, data: Record<string, unknown>): RetryPolicy {
  const delayMs = (attempt: number): number => Math.min(firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return retryPolicyOf(data, { maxAttempts, delayMs });
}

/**
 * Claims the node, or returns the success with which an earlier attempt has ended it; a failure is thrown. The end of a node
 * is also found in a run that has ended, because the run's last activity may be repeated: its worker died after it had
 * reported the end, or an operator has reset the run.
 */
export async function claimOrSettle(
  deps: NodeDeps,
  key: NodeKey,
  { name: step }: Pick<NodeStep<unknown>, 'name'>,
  readyAtMs = Context.current().info.scheduledTimestampMs,
): Promise<NodeClaim> {
  const work = { step: step ?? null, queuedMs: queuedMsSince(readyAtMs), worker: deps.workerId };
  const claim = (await claimNode(deps.db, key, work)) ?? (await findEnd(deps, key));
  if (claim === undefined) throw runClosedFailure();
  if (claim.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
  return claim;
}

async function findEnd({ db }: NodeDeps, key: NodeKey): Promise<NodeClaim | undefined> {
  const known = await findNodeClaim(db, key);
  return known?.status === 'in progress' ? undefined : known;
}

/** The clocks of two machines may differ, and the column is a 32-bit integer. */
function queuedMsSince(readyAtMs: number): number {
  return Math.min(Math.max(0, Math.round(Date.now() - readyAtMs)), 2 ** 31 - 1);
}

interface AttemptOptions {
  /** The number of this attempt, as the step counts (`attemptOf`): the limits apply to it. */
  attempt: number;
  /** The number by the node's claim, under which readers find the attempt; absent for a node that is executed without one. */
  claimed?: number | undefined;
  /** Aborting it stops the node as if its run were cancelled. */
  givenUp?: AbortSignal | undefined;
  /** Throws what the node ends with, in place of its work. */
  instead?: (() => never) | undefined;
}

export async function attemptStep<Facts>(
  deps: NodeDeps,
  { runId, path, nodeId }: NodeKey,
  step: NodeStep<Facts>,
  { attempt, claimed, givenUp, instead }: AttemptOptions,
): Promise<Facts> {
  const run = await deps.contexts.take(runId);
  const node = run.node(nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const stop = createStopSignal(Context.current(), givenUp);
  const { signal } = stop;
  const startedAt = performance.now();
  const memory = deps.memory.lease(`project:${run.projectId}`, signal);
  const task: NodeTask = { runId, path, nodeId, run, node, signal, memory, startedAt, attempt: claimed ?? 1 };
  const observe = (outcome: AttemptOutcome, code?: string, delayMs?: number): void => {
    deps.metrics.attemptSeconds.observe({ kind: node.kind, outcome }, (performance.now() - startedAt) / 1000);
    logAttempt(deps.logger, task, { outcome, attempt, code, delayMs });
  };
  const record = (end: AttemptEnd) => recordNode(deps, step, task, end);
  const keep = (error: NodeError) => keepAttempt(deps, task, claimed, error);
  const takeBackAttempt = () => takeBack(deps, task, claimed);
  const policy = policyOf(step, node.data);
  const skipsDelays = run.test?.skips_waits === true;
  try {
    instead?.();
    // Attempts that the service or a worker that stood still has cut off lead beyond the policy's number. They are no
    // failures of the node: the larger number counts.
    if (attempt > Math.max(step.maxAttempts, policy.maxAttempts)) {
      throw new NodeFailure('worker_lost', `The node was given up: ${attempt - 1} of its attempts were cut off.`);
    }
    const facts = await performStep(step, task, record);
    observe('ended');
    return facts;
  } catch (thrown) {
    const error = toFailure(thrown);
    if (signal.aborted) return await stopNode(error, { record, observe, keep, givenUp });
    const ended = error instanceof ConnectionNeeded ? await waitOrFail(deps, task, error) : error;
    return await failAttempt(ended, { step, policy, attempt, record, observe, keep, takeBackAttempt, skipsDelays });
  } finally {
    stop.release();
    task.memory.end();
  }
}

interface Failing<Facts> extends Pick<AttemptOptions, 'attempt'> {
  step: NodeStep<Facts>;
  policy: RetryPolicy;
  /** Whether a test skips the delays between attempts. */
  skipsDelays: boolean;
  record: Recorder;
  observe: (outcome: AttemptOutcome, code?: string, delayMs?: number) => void;
  /** Keeps an attempt that another one follows. */
  keep: (error: NodeError) => Promise<void>;
  /** Takes back an attempt that has done nothing. */
  takeBackAttempt: () => Promise<void>;
}

/** The attempt ended without a result: either another one follows, or the node has failed. */
async function failAttempt<Facts>(error: unknown, failing: Failing<Facts>): Promise<Facts> {
  const { step, policy, attempt, record, observe, keep, takeBackAttempt, skipsDelays } = failing;
  if (isHandedBack(error) || error instanceof NodeWaits) {
    observe(error instanceof NodeWaits ? 'waits' : 'handed_back');
    if (isHandedBack(error)) await takeBackAttempt();
    throw error;
  }
  if (!(error instanceof NodeFailure)) {
    observe('internal_error');
    await keep(INTERNAL);
    throw error;
  }
  const delayMs = skipsDelays ? 0 : (error.retryAfterMs ?? policy.delayMs(attempt));
  if (error.isRetryable && attempt < policy.maxAttempts && delayMs <= LONGEST_RETRY_AFTER_MS) {
    observe('retried', error.code, delayMs);
    await keep(error);
    throw retryableFailure(error.code, delayMs);
  }
  const stored = await record({ failure: error });
  observe('ended', error.code);
  if (stored !== undefined) return step.settled(stored);
  throw finalFailure(error.code);
}

/** Returns what the attempt ends with: the wait, or the failure of one that has been too long. */
async function waitOrFail(deps: NodeDeps, task: NodeTask, { connectionId }: ConnectionNeeded): Promise<unknown> {
  try {
    return await waitForConnection(deps, task, connectionId);
  } catch (error) {
    return error;
  }
}

// Readers are told these reasons of attempts that ended without a failure of their node.
const INTERNAL = new NodeError('internal_error', 'The service failed, and the node was attempted again.');
const STOOD_STILL = new NodeError('worker_lost', 'The worker stood still, and the node was attempted again.');
const STOPPED = new NodeError('worker_shutdown', 'The worker was stopped and has handed the node back.');

type Recorder = (end: AttemptEnd) => Promise<NodeClaim | undefined>;

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

/** An error that `graph/` throws fails the node like any other failure, and so does what the database never takes. */
function toFailure(thrown: unknown): unknown {
  if (isQuotaExceeded(thrown)) return quotaFailure();
  if (isDataException(thrown)) return new NodeFailure('internal_error', 'The service cannot store what the node says.');
  if (!(thrown instanceof NodeError) || thrown instanceof NodeFailure) return thrown;
  return new NodeFailure(thrown.code, thrown.message);
}

type Stopping = Pick<Failing<unknown>, 'record' | 'observe' | 'keep'> & Pick<AttemptOptions, 'givenUp'>;

/** The run was cancelled (or another node failed): settle as cancelled. A stopping worker hands the node back. */
async function stopNode(error: unknown, { record, observe, keep, givenUp }: Stopping): Promise<never> {
  const reason = Context.current().cancellationDetails;
  if (reason?.workerShutdown) {
    observe('handed_back');
    await keep(STOPPED);
    throw retryableFailure('worker_shutdown', 0);
  }
  observe('cancelled');
  if (reason?.timedOut || reason?.notFound) await keep(STOOD_STILL);
  if (reason?.cancelRequested || givenUp?.aborted) {
    const charge = error instanceof NodeFailure ? error.charge : undefined;
    await record({
      failure: new NodeFailure('cancelled', 'The node was cancelled because the run ended.', { charge }),
    });
  }
  givenUp?.throwIfAborted();
  return Context.current().cancelled;
}
