// Dense execution: one node as part of an activity that it shares.
import { activityInfo, Context } from '@temporalio/activity';
import type { NodeFacts } from '../../contract/nodes.js';
import type { ChainFacts } from '../../contract/dense.js';
import { traitsOf, type NodeKind } from '../../graph/kinds.js';
import type { NodeKey } from '../../graph/plan.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import { finalFailure, isFinal, retryDelayOf } from '../node/failures.js';
import { attemptStep, claimOrSettle } from '../node/node-attempt.js';
import type { NodeDeps, NodeStep } from '../node/node-step.js';
import { claimAndAttempt, runInline } from '../node/run-node.js';
import { runInTurn } from '../node/attempts-in-turn.js';
import type { ActivityTracer } from '../worker/trace-activity.js';

/** `givenUp` is aborted when a concurrent node has failed. */
export type ExecuteNode = (key: NodeKey, givenUp?: AbortSignal) => Promise<ChainFacts>;

/** A local attempt whose call takes longer is cut, and the node continues as a normal activity. */
const LOCAL_ATTEMPT_MS = 1_000;
/**
 * A local attempt that has not even ended by then (the database makes it wait) is handed over to a normal activity at once.
 * This is well below the time that the run workflow gives the activity.
 */
const HAND_OVER_MS = 2_000;
const CONTINUE_NOW: ChainFacts = { continueAfterMs: 0 };

export function createExecuteNode(
  deps: NodeDeps,
  steps: Partial<Record<NodeKind, NodeStep<NodeFacts>>>,
  trace: ActivityTracer,
): ExecuteNode {
  return async (key, givenUp) => {
    const kind = (await deps.contexts.load(key.runId)).node(key.nodeId)?.kind;
    const step = kind && steps[kind];
    if (kind === undefined || step === undefined) throw finalFailure('internal_error');
    const { activity, runs } = traitsOf(kind);
    return trace(activity, key, () => {
      if (runs === 'inline') return runInline(deps, key, step);
      const attempt = activityInfo().isLocal ? attemptLocally : claimAndAttempt;
      return attempt(deps, key, step, givenUp);
    });
  };
}

/**
 * One attempt that counts like any other. A repeated workflow task repeats this activity too: the claim then finds the end
 * that was stored, or counts an attempt that died. What another attempt may mend is left to the normal activity. It waits
 * for an attempt that still has an answer to record, so that a database which is away costs no second call.
 */
async function attemptLocally(
  deps: NodeDeps,
  key: NodeKey,
  step: NodeStep<NodeFacts>,
  givenUp?: AbortSignal,
): Promise<ChainFacts> {
  const { cancellationSignal } = Context.current();
  const handingOver = startDeadline(HAND_OVER_MS);
  const { signal: handOver } = handingOver;
  const attempt = runInTurn(`${key.runId}/${key.path}/${key.nodeId}`, cancellationSignal, async () => {
    const claim = await claimOrSettle(deps, key);
    // Handed over to the normal activity, which may run anywhere by now: nothing may begin here any more.
    if (handOver.aborted) return CONTINUE_NOW;
    if (claim.status === 'succeed') return step.settled(claim);
    return attemptOnce(deps, key, step, { attempt: claim.attempts, givenUp });
  });
  try {
    return await untilAborted(attempt, handOver);
  } catch (error) {
    if (handOver.aborted && error === handOver.reason) return CONTINUE_NOW;
    throw error;
  } finally {
    handingOver.clear();
  }
}

async function attemptOnce(
  deps: NodeDeps,
  key: NodeKey,
  step: NodeStep<NodeFacts>,
  { attempt, givenUp }: { attempt: number; givenUp: AbortSignal | undefined },
): Promise<ChainFacts> {
  const limit = startDeadline(LOCAL_ATTEMPT_MS);
  try {
    return await attemptStep(deps, key, step, { attempt, limit: limit.signal, givenUp });
  } catch (error) {
    if (Context.current().cancellationSignal.aborted) throw error;
    const continueAfterMs = limit.signal.aborted ? 0 : retryDelayOf(error);
    if (continueAfterMs === undefined || isFinal(error)) throw error;
    return { continueAfterMs };
  } finally {
    limit.clear();
  }
}
