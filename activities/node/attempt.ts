// Executes one attempt of a node: claim, run, record. The work of each kind is in activities/kinds/.
//
// If the process dies before the claim, the node has not started. If it dies after the claim, the next attempt finds
// the node `in progress` and runs it again; the ledger guards calls that must not be repeated. If the process dies
// after the record, the next attempt finds the recorded end and returns or throws it without running the node.
import { Context, type ApplicationFailure } from '@temporalio/activity';
import { isDataException } from '../../db/core/client.js';
import { MissingKeyError } from '../../db/core/secret-box.js';
import { findNodeClaim, type NodeClaim } from '../../db/nodes/node-results-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { StoreAwayError } from '../../files/store-failures.js';
import { NodeError } from '../../graph/node-error.js';
import { retryPolicyOf, type RetryPolicy } from '../../graph/nodes/every-node.js';
import type { NodeKey } from '../../graph/plan.js';
import { annotateActiveSpan } from '../../telemetry/spans.js';
import {
  finalFailure,
  handedBack,
  isHandedBack,
  NodeFailure,
  quotaFailure,
  retryableFailure,
  runClosedFailure,
  secretUnreadable,
} from './failures.js';
import { admitHeld } from './isolation.js';
import type { NodeDeps, NodeStep, NodeTask, RetryDefaults } from './node-step.js';
import { recordNode, recordRetried, uncountAttempt } from './record.js';
import type { RunContext } from './run-context.js';
import { createStopSignal } from './stop-signal.js';
import { ConnectionNeeded, NodeWaits, waitForConnection } from './wait-for-connection.js';

export interface AttemptOptions {
  /** Aborted when another node of the walk has failed and nothing catches that failure. */
  walkFailed?: AbortSignal | undefined;
  /**
   * The time at which the node became ready, in milliseconds since the epoch. Defaults to the
   * scheduled time of the activity.
   */
  readyAtMs?: number | undefined;
}

/**
 * Throws the failure of the node, an error after which Temporal or the run workflow retries the node, `NodeWaits`,
 * `run_closed` if the run has ended, or the cancellation.
 */
export async function attemptNode<Facts>(
  deps: NodeDeps,
  key: NodeKey,
  step: NodeStep<Facts>,
  { walkFailed, readyAtMs }: AttemptOptions = {},
): Promise<Facts> {
  const run = await loadRun(deps, key);
  const claim = step.isClaimed ? await claimOrFindEnd(deps, key, step.name, readyAtMs) : undefined;
  if (claim?.status === 'succeed') return step.factsOf(claim);
  const admission = claim?.isHeld ? await admitHeld(deps, key, { claim, step: step.name, walkFailed }) : undefined;
  try {
    return await runStep(deps, key, step, { run, claim, walkFailed, error: admission?.error });
  } finally {
    admission?.release();
  }
}

/**
 * Loads the run, and records its start if no worker has. Called before the node is claimed, so that an attempt that
 * cannot read the run is not counted.
 */
async function loadRun(deps: NodeDeps, key: NodeKey): Promise<RunContext> {
  try {
    await deps.contexts.start(key.runId);
    return await deps.contexts.load(key.runId);
  } catch (error) {
    throw error instanceof MissingKeyError ? waitForKey(deps, key, error) : error;
  }
}

function waitForKey({ logger }: NodeDeps, { runId, nodeId }: NodeKey, error: MissingKeyError): ApplicationFailure {
  logger.error({ run_id: runId, node_id: nodeId, err: error }, 'a key is missing; the node is attempted again');
  return secretUnreadable();
}

/**
 * Claims the node, or returns the success that an earlier attempt recorded, or throws the failure that it recorded. A
 * recorded end is found even after the run has ended. Temporal repeats the run's last activity if the worker died after
 * it had written the end of the run, or if an operator has reset the run. Throws `run_closed` if the run has ended and
 * the node has no recorded end.
 */
async function claimOrFindEnd(
  { db, writes, workerId }: NodeDeps,
  key: NodeKey,
  step: string | undefined,
  readyAtMs = Context.current().info.scheduledTimestampMs,
): Promise<NodeClaim> {
  const work = { step: step ?? null, queuedMs: queuedMsSince(readyAtMs), worker: workerId };
  const claim = await writes.claim(key, work);
  const found = claim ?? (await findNodeClaim(db, key));
  const isLeftOpen = claim === undefined && found?.status === 'in progress';
  if (found === undefined || isLeftOpen) throw runClosedFailure();
  if (found.status === 'failed') throw finalFailure(found.errorCode ?? 'internal_error');
  return found;
}

/** Clamps the value, because the clocks of two machines may differ and the column is a 32-bit integer. */
function queuedMsSince(readyAtMs: number): number {
  return Math.min(Math.max(0, Math.round(Date.now() - readyAtMs)), 2 ** 31 - 1);
}

interface RunOptions {
  run: RunContext;
  /** Absent if the step is not claimed. */
  claim: NodeClaim | undefined;
  walkFailed: AbortSignal | undefined;
  /** If defined, the attempt ends with this error and the step does not run. */
  error: unknown;
}

interface Attempt<Facts> {
  step: NodeStep<Facts>;
  task: NodeTask;
  number: number;
  policy: RetryPolicy;
  walkFailed: AbortSignal | undefined;
}

async function runStep<Facts>(
  deps: NodeDeps,
  { runId, path, nodeId }: NodeKey,
  step: NodeStep<Facts>,
  { run, claim, walkFailed, error }: RunOptions,
): Promise<Facts> {
  const node = run.node(nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const stop = createStopSignal(Context.current(), walkFailed);
  const { signal } = stop;
  const memory = deps.memory.lease(`project:${run.projectId}`, signal);
  const startedAt = performance.now();
  const task = { runId, path, nodeId, run, node, signal, memory, startedAt, attempt: claim?.attempts ?? 1 };
  const number = claim === undefined || step.retry === undefined ? 1 : claim.attempts - claim.spared;
  const attempt = { step, task, number, policy: policyOf(step.retry, node.data), walkFailed };
  let earlier: NodeClaim | undefined;
  try {
    if (error !== undefined) throw error;
    refuseTooMany(attempt);
    const result = await step.run(task);
    earlier = 'facts' in result ? undefined : await recordNode(deps, step, task, { outcome: result });
    observe(deps, attempt, 'ended');
    // The first recorded end counts. Another attempt may end differently: a condition may read a node that has ended
    // since, and a worker that was cut off may record a failure while another one executes the node.
    if (earlier?.status !== 'failed') return 'facts' in result ? result.facts : step.factsOf(earlier ?? result);
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (signal.aborted) return await cancelNode(deps, attempt, failure);
    if (!(failure instanceof ConnectionNeeded)) return await failOrRetry(deps, attempt, failure);
    const ending = await waitForConnection(deps, task, failure.connectionId).catch((reason: unknown) => reason);
    return await failOrRetry(deps, attempt, ending);
  } finally {
    stop.release();
    memory.end();
  }
  throw finalFailure(earlier.errorCode ?? 'internal_error');
}

const UNLIMITED: RetryDefaults = { maxAttempts: Number.POSITIVE_INFINITY, firstDelayMs: 500 };
const LONGEST_DELAY_MS = 60_000;

function policyOf({ maxAttempts, firstDelayMs } = UNLIMITED, data: Record<string, unknown>): RetryPolicy {
  const delayMs = (attempt: number): number => Math.min(firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return retryPolicyOf(data, { maxAttempts, delayMs });
}

/**
 * Attempts that were cut off because the service failed or the worker froze are counted, although they are no failures
 * of the node. So the limit of the node's kind applies if it is higher than the node's own.
 */
function refuseTooMany({ step: { retry = UNLIMITED }, number, policy }: Attempt<unknown>): void {
  if (number <= Math.max(retry.maxAttempts, policy.maxAttempts)) return;
  throw new NodeFailure('worker_lost', `The node was given up after ${number - 1} attempts; the last one was cut off.`);
}

/**
 * Errors of graph/, an exceeded quota, and data that PostgreSQL refuses to store fail the node like any other failure.
 * A node whose files cannot be reached is attempted later, as often as necessary.
 */
function toFailure(thrown: unknown): unknown {
  if (isQuotaExceeded(thrown)) return quotaFailure();
  if (thrown instanceof StoreAwayError) return handedBack();
  if (isDataException(thrown)) return new NodeFailure('internal_error', 'The service cannot store what the node says.');
  if (!(thrown instanceof NodeError) || thrown instanceof NodeFailure) return thrown;
  return new NodeFailure(thrown.code, thrown.message);
}

/** A node fails if the other side asks for a longer delay than this. */
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;

/**
 * Handles an attempt that ended without an outcome: the node waits for a connection, is attempted again, or has failed.
 * Returns the facts if another attempt has recorded a success.
 */
async function failOrRetry<Facts>(deps: NodeDeps, attempt: Attempt<Facts>, error: unknown): Promise<Facts> {
  const { step, task, number, policy } = attempt;
  if (error instanceof NodeWaits) {
    observe(deps, attempt, 'waits');
    // The connection has become ready meanwhile, so nothing waits and the attempt has done nothing.
    if (error.facts.isOver === true) await uncountAttempt(deps, step, task);
    throw error;
  }
  if (isHandedBack(error) || error instanceof MissingKeyError) {
    observe(deps, attempt, 'handed_back');
    await uncountAttempt(deps, step, task);
    throw error instanceof MissingKeyError ? waitForKey(deps, task, error) : error;
  }
  if (!(error instanceof NodeFailure)) {
    observe(deps, attempt, 'internal_error');
    await recordRetried(deps, step, task, INTERNAL);
    throw error;
  }
  const skipsDelays = task.run.test?.skips_waits === true;
  const delayMs = skipsDelays ? 0 : (error.retryAfterMs ?? policy.delayMs(number));
  if (error.isRetryable && number < policy.maxAttempts && delayMs <= LONGEST_RETRY_AFTER_MS) {
    observe(deps, attempt, 'retried', { code: error.code, delayMs });
    await recordRetried(deps, step, task, error);
    throw retryableFailure(error.code, delayMs);
  }
  const earlier = await recordNode(deps, step, task, { failure: error });
  observe(deps, attempt, 'ended', { code: error.code });
  if (earlier?.status === 'succeed') return step.factsOf(earlier);
  throw finalFailure(earlier?.errorCode ?? error.code);
}

/**
 * Handles an attempt that was stopped. If the worker stops, or if Temporal has given up the attempt, records it as an
 * attempt that another follows. If the run or the iteration was cancelled, or if another node of the walk has failed,
 * the node ends as cancelled.
 */
async function cancelNode(deps: NodeDeps, attempt: Attempt<unknown>, error: unknown): Promise<never> {
  const { step, task, walkFailed } = attempt;
  const reason = Context.current().cancellationDetails;
  if (reason?.workerShutdown) {
    observe(deps, attempt, 'handed_back');
    await recordRetried(deps, step, task, STOPPED);
    throw retryableFailure('worker_shutdown', 0);
  }
  observe(deps, attempt, 'cancelled');
  if (reason?.timedOut || reason?.notFound) await recordRetried(deps, step, task, STOOD_STILL);
  if (reason?.cancelRequested || walkFailed?.aborted) {
    const charge = error instanceof NodeFailure ? error.charge : undefined;
    const failure = new NodeFailure(
      'cancelled',
      'The node was cancelled: its run or iteration was cancelled, or another node failed.',
      { charge },
    );
    await recordNode(deps, step, task, { failure });
  }
  walkFailed?.throwIfAborted();
  return Context.current().cancelled;
}

// Readers of a run see these errors at attempts that ended without a failure of their node.
const INTERNAL = new NodeError('internal_error', 'The service failed, and the node was attempted again.');
const STOOD_STILL = new NodeError('worker_lost', 'The worker stood still, and the node was attempted again.');
const STOPPED = new NodeError('worker_shutdown', 'The worker was stopped and has handed the node back.');

/** `retried`: another attempt follows. `handed_back`: the node is attempted later, or by another worker. */
type Ending = 'ended' | 'retried' | 'cancelled' | 'handed_back' | 'waits' | 'internal_error';

const LOG_MESSAGES: Partial<Record<Ending, string>> = {
  retried: 'node is attempted again',
  handed_back: 'node is handed back and attempted later',
  waits: 'node waits for a connection',
};

/**
 * Reports the end of an attempt to metrics, trace and log. The log holds codes and numbers only, because the message of
 * a failure may quote a secret that only the run's owner may read.
 */
function observe(
  { metrics, logger }: NodeDeps,
  { step, task: { runId, nodeId, node, startedAt, attempt: claimed } }: Attempt<unknown>,
  outcome: Ending,
  { code, delayMs }: { code?: string; delayMs?: number } = {},
): void {
  metrics.attemptSeconds.observe({ kind: node.kind, outcome }, (performance.now() - startedAt) / 1000);
  // Attempts that do not count against the retry policy are counted here, as in the list of attempts of the node.
  const attempt = step.retry === undefined ? 1 : claimed;
  annotateActiveSpan({ 'node.attempt': attempt, 'node.outcome': outcome, ...(code && { 'error.type': code }) });
  const message = LOG_MESSAGES[outcome] ?? (code === undefined ? undefined : 'node failed');
  if (message === undefined) return;
  const facts = {
    run_id: runId,
    node_id: nodeId,
    kind: node.kind,
    attempt,
    error_code: code,
    delay_ms: delayMs,
  };
  logger.info(facts, message);
}
