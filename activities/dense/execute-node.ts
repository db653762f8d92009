// Dense execution: executes one node inside a shared activity.
import { activityInfo, Context } from '@temporalio/activity';
import { activityIdOf } from '../../contract/node-names.js';
import type { NodeFacts } from '../../contract/nodes.js';
import type { ChainFacts } from '../../contract/dense.js';
import { traitsOf, type NodeKind } from '../../graph/kinds.js';
import type { NodeKey } from '../../graph/plan.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import { finalFailure, isFinal, retryDelayOf } from '../node/failures.js';
import { attemptStep, claimOrSettle } from '../node/node-attempt.js';
import type { NodeBeginning, NodeDeps, NodeStep } from '../node/node-step.js';
import { claimAndAttempt, runInline } from '../node/run-node.js';
import { runInTurn } from '../node/attempts-in-turn.js';
import type { ActivityTracer } from '../worker/trace-activity.js';

export type ExecuteNode = (key: NodeKey, beginning?: NodeBeginning) => Promise<ChainFacts>;

/** A local attempt whose call takes longer than this is aborted, and the node continues in a normal activity. */
const LOCAL_ATTEMPT_MS = 1_000;
/**
 * If a local attempt has not ended by then (for example because the database is slow), a normal activity takes over.
 * This is well below the activity's time-out.
 */
const HAND_OVER_MS = 2_000;
const CONTINUE_NOW: ChainFacts = { continueAfterMs: 0 };

export function createExecuteNode(
  deps: NodeDeps,
  steps: Partial<Record<NodeKind, NodeStep<NodeFacts>>>,
  trace: ActivityTracer,
): ExecuteNode {
  return async (key, beginning) => {
    const kind = (await deps.contexts.load(key.runId)).node(key.nodeId)?.kind;
    const step = kind && steps[kind];
    if (kind === undefined || step === undefined) throw finalFailure('internal_error');
    const { activity, runs } = traitsOf(kind);
    return trace(activity, key, () => {
      if (runs === 'inline') return runInline(deps, key, step);
      const attempt = activityInfo().isLocal ? attemptLocally : claimAndAttempt;
      return attempt(deps, key, step, beginning);
    });
  };
}

/**
 * Makes one attempt, which counts like any other. A repeated workflow task also repeats this activity: the claim then
 * finds the stored end, or counts the attempt that died. Retries are left to the normal activity. That activity waits
 * for an attempt in this process that is still recording its answer, so that an outage of the database does not cause a
 * second call.
 */
async function attemptLocally(
  deps: NodeDeps,
  key: NodeKey,
  step: NodeStep<NodeFacts>,
  { givenUp, readyAtMs }: NodeBeginning = {},
): Promise<ChainFacts> {
  const { cancellationSignal } = Context.current();
  const handingOver = startDeadline(HAND_OVER_MS);
  const { signal: handOver } = handingOver;
  const attempt = runInTurn(`${key.runId}/${activityIdOf(key)}`, cancellationSignal, async () => {
    const claim = await claimOrSettle(deps, key, step, readyAtMs);
    // The normal activity has taken over and may run in any worker, so nothing may begin here any more.
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
    return await attemptStep(deps, key, step, { attempt, claimed: attempt, limit: limit.signal, givenUp });
  } catch (error) {
    if (Context.current().cancellationSignal.aborted) throw error;
    const continueAfterMs = limit.signal.aborted ? 0 : retryDelayOf(error);
    if (continueAfterMs === undefined || isFinal(error)) throw error;
    return { continueAfterMs };
  } finally {
    limit.clear();
  }
}
