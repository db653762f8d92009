// One try of a node's step, from its claim to the record of its end.
import { Context } from '@temporalio/activity';
import { claimNode, findNodeClaim, type NodeClaim } from '../../db/nodes/node-results-repository.js';
import { RenderedTooLargeError } from '../../graph/template.js';
import { finalFailure, NodeFailure, retryableFailure, runClosedFailure } from './failures.js';
import { reportTry } from './node-log.js';
import { recordNode, type NodeEnd } from './record-node.js';
import type { NodeDeps, NodeRef, NodeStep, NodeTask, NodeTurn } from './run-node.js';
import { createStopSignal } from './stop-signal.js';
import type { TryOutcome } from '../worker/worker-metrics.js';

/** A provider that asks for more patience than this is answered with a failed node. */
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * Throws what an earlier try has ended the node with. Of a run that has ended, too, what is recorded is found: its last
 * activity may be repeated, for its worker died when it had told the end, or an operator has reset the run.
 */
export async function claimOrSettle(deps: NodeDeps, ref: NodeRef): Promise<NodeClaim> {
  const claim = (await claimNode(deps.db, ref)) ?? (await findEnd(deps, ref));
  if (claim === undefined) throw runClosedFailure();
  if (claim.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
  return claim;
}

async function findEnd({ db }: NodeDeps, ref: NodeRef): Promise<NodeClaim | undefined> {
  const known = await findNodeClaim(db, ref);
  return known?.status === 'in progress' ? undefined : known;
}

/** `limit`: when it is aborted, so is the try, and nothing is recorded. */
export async function tryStep<Facts>(
  deps: NodeDeps,
  ref: NodeTurn,
  step: NodeStep<Facts>,
  attempt: number,
  limit?: AbortSignal,
): Promise<Facts> {
  const run = await deps.contexts.load(ref.runId);
  const node = run.node(ref.nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const { runId, path, nodeId } = ref;
  const stop = createStopSignal(Context.current(), ref.givenUp);
  const signal = limit === undefined ? stop.signal : AbortSignal.any([stop.signal, limit]);
  const startedAt = performance.now();
  const memory = deps.memory.lease(signal);
  const task: NodeTask = { runId, path, nodeId, run, node, signal, stop: stop.signal, memory, startedAt };
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
      return await stopNode(error, record, ref.givenUp);
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
async function stopNode(
  error: unknown,
  record: (end: NodeEnd) => Promise<void>,
  givenUp: AbortSignal | undefined,
): Promise<never> {
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

function tooLarge({ message }: RenderedTooLargeError): NodeFailure {
  return new NodeFailure('rendered_too_large', message);
}
