// Dense execution: the call of the activity that executes a chain of nodes, and the progress that it reports.
import {
  ActivityCancellationType,
  ActivityFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../../contract/activities.js';
import { activityIdOf } from '../../contract/node-names.js';
import { FINISH_SEQUENCE } from '../../contract/nodes.js';
import type { ChainFacts, ChainProgress, ChainRef, FollowingNodes } from '../../contract/dense.js';
import { toMarkdown } from '../../contract/run-workflow.js';
import { traitsOf } from '../../graph/kinds.js';
import { inWorkflowTask, outgoing } from '../activity-options.js';
import { nodeFailureOf } from '../node-failure.js';
import { chainAfter, lengthOf, summaryOf, type Chain, type DensePlan } from './chains.js';

type ChainActivity = Pick<Activities, 'nodeChain'>;

// Two of the longest calls, because a chain may begin with one and end with another, and a wait for a slot of the worker,
// which other chains may hold for as long.
const inActivity = proxyActivities<ChainActivity>({ ...outgoing, startToCloseTimeout: '4h' });
const inline = proxyLocalActivities<ChainActivity>(inWorkflowTask);
/**
 * Makes one attempt. The activity itself gives up sooner, so this time-out only ends an attempt that hangs because of
 * an internal error.
 */
const quick = proxyLocalActivities<ChainActivity>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '6s',
  retry: { maximumAttempts: 1 },
});

interface ChainOptions {
  runId: string;
  /** The first nodes, which are executed concurrently. */
  nodes: number[];
  isLocal: boolean;
  /** The number of nodes of the run that have not settled. */
  open: number;
}

export interface ChainCall {
  ref: ChainRef;
  summary: string;
  isLocal: boolean;
  /** That of the first node that leaves the process, so that operators find it. */
  activityId: string;
  /** The number of nodes, including those in forks. */
  length: number;
}

export function toChainCall(dense: DensePlan, { runId, nodes, isLocal, open }: ChainOptions): ChainCall {
  const { plan } = dense;
  const [first, ...concurrent] = nodes as [number, ...number[]];
  const chain = chainAfter(dense, first, isLocal, nodes.length);
  const length = nodes.length + lengthOf(chain);
  const ref = {
    runId,
    path: '',
    nodeId: plan.ids[first]!,
    ...(concurrent.length === 0 ? {} : { concurrent: concurrent.map((node) => plan.ids[node]!) }),
    ...toFollowing(dense, chain),
    ...(open === length ? { endSequence: FINISH_SEQUENCE } : {}),
  };
  const labels = [...nodes, ...chain.nodes].map((node) => toMarkdown(plan.labels[node]!));
  const leaving = [first, ...chain.nodes].find((node) => traitsOf(plan.kinds[node]!).runs !== 'inline') ?? first;
  const summary = summaryOf(chain.forks === undefined ? labels : [...labels, '…'], nodes.length);
  return { ref, summary, isLocal, activityId: activityIdOf({ path: '', nodeId: plan.ids[leaving]! }), length };
}

function toFollowing(dense: DensePlan, { nodes, forks }: Chain): FollowingNodes {
  return {
    ...(nodes.length === 0 ? {} : { followers: nodes.map((node) => dense.plan.ids[node]!) }),
    ...(forks && { forks: forks.map((fork) => toFollowing(dense, fork)) }),
  };
}

/** `isAttempt`: the chain begins with a call, which is attempted once inside the workflow task. */
export function callChain({ ref, summary, isLocal, activityId }: ChainCall, isAttempt: boolean): Promise<ChainFacts> {
  if (!isLocal) return inActivity.nodeChain.executeWithOptions({ summary, activityId }, [ref]);
  return isAttempt ? attempt(ref, summary) : inline.nodeChain.executeWithOptions({ summary }, [ref]);
}

/**
 * Makes the attempt. Nodes that it has not executed continue in activities of their own. Throws the failure that ends a
 * node, or the cancellation.
 */
async function attempt(ref: ChainRef, summary: string): Promise<ChainFacts> {
  try {
    return await quick.nodeChain.executeWithOptions({ summary: `${summary} (local)` }, [ref]);
  } catch (error) {
    // Only the node's own end is thrown. An internal error (the database is down, a time-out) is left to the node's own
    // activity.
    if (isCancellation(error) || nodeFailureOf(error)?.nonRetryable === true) throw error;
    const concurrent = [ref.nodeId, ...(ref.concurrent ?? [])];
    return { continuations: concurrent.map((_, place) => [place, 0]) };
  }
}

/** Returns the progress that the activity last reported before a node failed or Temporal gave up on the activity. */
export function progressOf(failure: unknown): ChainProgress {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const reported: unknown =
    cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : nodeFailureOf(failure)?.details?.[0];
  return { done: 0, handles: [], ...(reported as Partial<ChainProgress> | undefined) };
}
