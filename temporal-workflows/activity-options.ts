// How the run workflow calls each activity. Everything is said explicitly: the SDK's documented default for
// `cancellationType` is not what goes on the wire.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities, FinishRunInput, NodeActivities } from '../contract/activities.js';
import type { NodeFacts, NodeRef } from '../contract/nodes.js';
import { kinds, type KindThatRuns } from '../graph/kinds.js';

/**
 * How often a node is attempted is the activity's own decision: it counts attempts in the database and fails for good with
 * a non-retryable failure, so that an outage of our own parts never uses up the attempts of a node. Temporal's policy only
 * says how soon; `scheduleToCloseTimeout` ends what never gets through.
 */
export const outgoing = {
  // The run must know whether money was spent before it ends.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // A node whose worker died is attempted again within 15 s.
  heartbeatTimeout: '10s',
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
} as const;

// The longest call (models and MCP tools 600 s, requests 300 s), plus 2 min of waiting for memory during it, 2 min to connect
// twice and 4 min to record while the database is away. Before the call a node may wait for memory that others hold for as
// long as all of this. A worker that dies is noticed by its heartbeats: this limit must never cut a call that is paid for.
const NODE_LIMIT = '1h';
const inActivity = proxyActivities<NodeActivities>({ ...outgoing, startToCloseTimeout: NODE_LIMIT });

/** One model call. */
export const { agentTurn } = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: NODE_LIMIT });
/** A turn may ask for 128 calls of 600 s each, of which 8 are made at once: 2 h 40 min, and time to connect. */
export const { agentTools } = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: '4h' });

/** Reads a few rows and writes one: one event and no trip through a task queue. It is attempted until it gets through. */
export const inWorkflowTask = {
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // Some of it waits for memory that others hold.
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
} as const;
const inline = proxyLocalActivities<NodeActivities>(inWorkflowTask);

/** What an activity is told, and the Temporal UI shows. */
export interface NodeCall {
  node: NodeRef;
  summary: string;
}

/** An agent is a loop of its own: agent-loop.ts. */
export type SingleStepKind = KindThatRuns<'activity' | 'inline'>;

/** Executes a node in the one activity of its kind. Its id is the node's, so that the UI and our tables line up. */
export function callNode(kind: SingleStepKind, { node, summary }: NodeCall): Promise<NodeFacts> {
  const { activity, runs } = kinds[kind];
  if (runs === 'inline') return inline[activity].executeWithOptions({ summary }, [node]);
  return inActivity[activity].executeWithOptions({ summary, activityId: node.nodeId }, [node]);
}

const REPORT = { summary: 'Report the end of the run' };

/** One attempt, which needs neither an event nor a task queue where it succeeds. */
const reportAtOnce = proxyLocalActivities<Pick<Activities, 'finishRun'>>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '6s',
  retry: { maximumAttempts: 1 },
});
/** Never gives up: without it a run would have no end. Short and urgent, since pollers wait for it. */
const reportUntilDone = proxyActivities<Pick<Activities, 'finishRun'>>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '15s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
  priority: { priorityKey: 1 },
});

/** Reports the run's end, within the workflow task where that works at once. */
export async function reportEnd(end: FinishRunInput): Promise<void> {
  const isDone = await reportAtOnce.finishRun.executeWithOptions(REPORT, [end]).then(
    () => true,
    () => false,
  );
  if (!isDone) await reportUntilDone.finishRun.executeWithOptions(REPORT, [end]);
}
