// How the run workflow calls each activity. `cancellationType` is always set explicitly, because the SDK's actual
// default differs from the documented one.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type {
  Activities,
  BeginWaitActivities,
  ChildToStart,
  CloseNodeInput,
  EndIterationFacts,
  EndIterationsRef,
  EndLoopRef,
  EndWaitFacts,
  EndWaitRef,
  FinishRunInput,
  KeptNode,
  LoopFacts,
  NodeActivities,
  WaitFacts,
} from '../contract/activities.js';
import type { NodeFacts, NodeRef } from '../contract/nodes.js';
import { activityIdOf } from '../contract/node-names.js';
import type { FiringRef, ScheduleActivities } from '../contract/scheduled-run.js';
import { kinds, type KindThatRuns } from '../graph/kinds.js';
import type { NodeKey, Plan } from '../graph/plan.js';

/**
 * The activity itself decides how often a node is attempted. It counts attempts in the database and ends them with a
 * non-retryable failure, so an outage of our own services never uses up the attempts of a node. Temporal's retry policy
 * only sets the delay between retries, and `scheduleToCloseTimeout` ends an activity that never succeeds
 * (docs/adr/0004-attempts-counted-in-postgres.md).
 */
export const outgoing = {
  // Before a run ends, it must know whether its calls were charged.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // A node whose worker died is retried within 15 s.
  heartbeatTimeout: '10s',
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
} as const;

// The longest call (models and MCP tools 600 s, requests 300 s), plus 2 min of waiting for memory during it, 2 min to connect
// twice and 4 min to record while the database is away. Before the call a node may wait for memory that others hold for as
// long as all of this. A worker that dies is noticed by its heartbeats: this limit must never cut a call that is paid for.
const NODE_LIMIT = '1h';
const inActivity = proxyActivities<NodeActivities>({ ...outgoing, startToCloseTimeout: NODE_LIMIT });

/** One model call; two where the first answer does not have its form. */
export const { agentTurn } = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: NODE_LIMIT });
/** A turn may ask for 128 calls of 600 s each, of which 8 are made at once: 2 h 40 min, and time to connect. */
export const { agentTools } = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: '4h' });

/**
 * For activities that read a few rows and write one. They cost one history event and no trip through a task queue, and
 * they are retried until they succeed.
 */
export const inWorkflowTask = {
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // Some of these activities wait for memory that others hold.
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
  // An activity that asks for a longer delay (`handedBack`) waits for it with a timer and leaves the workflow task.
  localRetryThreshold: '6s',
} as const;
const inline = proxyLocalActivities<NodeActivities>(inWorkflowTask);

/** The input of a node's activity, and the summary that the Temporal UI shows. */
export interface NodeCall {
  node: NodeRef;
  summary: string;
}

/** The kinds whose nodes take one activity. Agents, waits and loops take several. */
export type SingleStepKind = KindThatRuns<'activity' | 'inline'>;

/**
 * Executes a node in the one activity of its kind. The activity id is made from the node's id, so that the Temporal UI
 * matches our tables.
 */
export function callNode(kind: SingleStepKind, { node, summary }: NodeCall): Promise<NodeFacts> {
  const { activity, runs } = kinds[kind];
  if (runs === 'inline') return inline[activity].executeWithOptions({ summary }, [node]);
  return inActivity[activity].executeWithOptions({ summary, activityId: activityIdOf(node) }, [node]);
}

const loading = proxyLocalActivities<Pick<Activities, 'loadKept' | 'loadPlan'>>(inWorkflowTask);

export function loadPlan(runId: string): Promise<Plan> {
  return loading.loadPlan.executeWithOptions({ summary: 'Load the plan' }, [{ runId }]);
}

export function loadKept(runId: string): Promise<KeptNode[]> {
  return loading.loadKept.executeWithOptions({ summary: 'Load the results that are kept' }, [{ runId }]);
}

const waiting = proxyLocalActivities<BeginWaitActivities & Pick<Activities, 'endWait'>>(inWorkflowTask);

/** The kinds that wait without holding anything. */
export type WaitKind = KindThatRuns<'wait'>;

export function beginWait(kind: WaitKind, { node, summary }: NodeCall): Promise<WaitFacts> {
  return waiting[kinds[kind].activity].executeWithOptions({ summary }, [node]);
}

export function endWait(node: EndWaitRef, summary: string): Promise<EndWaitFacts> {
  return waiting.endWait.executeWithOptions({ summary: `${summary}: end` }, [node]);
}

const looping =
  proxyLocalActivities<Pick<Activities, 'endIterations' | 'endLoop' | 'forEach' | 'loop'>>(inWorkflowTask);

/** The kinds that repeat a part of the drawing. */
export type LoopKind = KindThatRuns<'body'>;

export function beginLoop(kind: LoopKind, loop: NodeKey, summary: string): Promise<LoopFacts> {
  return looping[kinds[kind].activity].executeWithOptions({ summary }, [loop]);
}

export function endIterations(ref: EndIterationsRef, summary: string): Promise<EndIterationFacts[]> {
  const [first, ...others] = ref.ends.map(({ index }) => index);
  const which = others.length === 0 ? `${first}` : `${first} and ${others.length} more`;
  return looping.endIterations.executeWithOptions({ summary: `${summary}: end of ${which}` }, [ref]);
}

export function endLoop(end: EndLoopRef, summary: string): Promise<NodeFacts> {
  return looping.endLoop.executeWithOptions({ summary: `${summary}: end` }, [end]);
}

const closing = proxyLocalActivities<Pick<Activities, 'closeNode'>>(inWorkflowTask);

export function closeNode(node: CloseNodeInput): Promise<void> {
  return closing.closeNode.executeWithOptions({ summary: 'Record a failure' }, [node]);
}

const firing = proxyLocalActivities<ScheduleActivities>(inWorkflowTask);

export function acceptFiring(ref: FiringRef): Promise<ChildToStart | undefined> {
  return firing.acceptFiring.executeWithOptions({ summary: 'Accept the run' }, [ref]);
}

export function isRunOver(runId: string): Promise<boolean> {
  return firing.isRunOver.executeWithOptions({ summary: 'Look whether the run has ended' }, [{ runId }]);
}

export function cancelFiredRun(runId: string): Promise<void> {
  return firing.cancelFiredRun.executeWithOptions({ summary: 'Cancel the run' }, [{ runId }]);
}

const REPORT = { summary: 'Report the end of the run' };

/** Makes one attempt. If it succeeds, it needs neither a history event nor a task queue. */
const reportAtOnce = proxyLocalActivities<Pick<Activities, 'finishRun'>>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '6s',
  retry: { maximumAttempts: 1 },
});
/**
 * Retries without a limit, because a run without a report would never end. Its time-out is short and its priority high,
 * since pollers wait for the report.
 */
const reportUntilDone = proxyActivities<Pick<Activities, 'finishRun'>>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '15s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
  priority: { priorityKey: 1 },
});

/** Reports the run's end, within the workflow task if the first attempt succeeds. */
export async function reportEnd(end: FinishRunInput): Promise<void> {
  const isDone = await reportAtOnce.finishRun.executeWithOptions(REPORT, [end]).then(
    () => true,
    () => false,
  );
  if (!isDone) await reportUntilDone.finishRun.executeWithOptions(REPORT, [end]);
}
