// Dense execution: executes the concurrent nodes of one activity. Whatever follows these nodes waits for all of them
// anyway. Each node is recorded as soon as it has ended.
//
// When the process dies, Temporal retries the activity. It finds the nodes that were recorded. A call that was in
// flight is attempted again or, if it must not be repeated, fails. The first node that fails stops the others, just as
// the end of the run does.
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { ChainProgress, Continuation } from '../../contract/dense.js';
import type { NodeKey } from '../../graph/plan.js';
import { finalFailure, isFinal, retryDelayOf } from '../node/failures.js';
import type { ExecuteNode } from './execute-node.js';
import type { Slots } from './slots.js';

interface ConcurrentDeps {
  executeNode: ExecuteNode;
  /** The activity already holds one slot. */
  slots: Slots;
}

/** A node that waits longer for a slot is better off in Temporal's queue, where another worker may take it. */
const WAIT_FOR_SLOT_MS = 1_000;

/**
 * Resolves with the nodes that continue in activities of their own. Rejects when the activity is cancelled, or when a
 * node has failed for good and the others have stopped. Keeps in `progress` which nodes have succeeded and which one
 * has failed.
 */
export async function executeConcurrently(
  keys: NodeKey[],
  { executeNode, slots }: ConcurrentDeps,
  progress: ChainProgress,
): Promise<Continuation[]> {
  const { cancellationSignal } = Context.current();
  const givingUp = new AbortController();
  const succeeded: number[] = (progress.concurrent = []);
  const continuations: Continuation[] = [];
  let failure: unknown;
  const execute = async (key: NodeKey, place: number): Promise<void> => {
    try {
      const { continueAfterMs } = await executeNode(key, { givenUp: givingUp.signal });
      if (continueAfterMs === undefined) succeeded.push(place);
      else continuations.push([place, continueAfterMs]);
    } catch (error) {
      if (failure !== undefined) return;
      if (error instanceof ApplicationFailure && isFinal(error)) {
        progress.failed = place;
        failure = finalFailure(error.type ?? 'internal_error', progress);
        givingUp.abort(new CancelledFailure('A concurrent node has failed.'));
      } else if (cancellationSignal.aborted) failure = error;
      // An internal error will recur in the node's own activity, which is retried until it succeeds.
      else continuations.push([place, retryDelayOf(error) ?? 0]);
    }
  };
  const stop = AbortSignal.any([cancellationSignal, givingUp.signal]);
  const executeInSlot = async (key: NodeKey, place: number): Promise<void> => {
    if (place === 0) return execute(key, place);
    if (!(await slots.takeWithin(WAIT_FOR_SLOT_MS, stop))) return void continuations.push([place, 0]);
    await execute(key, place).finally(() => slots.release());
  };
  await Promise.all(keys.map(executeInSlot));
  if (failure !== undefined) throw failure as Error;
  delete progress.concurrent;
  return continuations;
}
