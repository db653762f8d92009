// How the run workflow calls each activity. Everything is said explicitly: the SDK's documented default for
// `cancellationType` is not what goes on the wire.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.js';
import type { Branch, NodeKind } from '../graph/plan.js';

/**
 * How often a node is tried is the activity's own decision (it counts tries in the database and fails for good with a
 * non-retryable failure), so that an outage of our own parts never uses up the tries of a node. Temporal's policy only
 * says how soon; `scheduleToCloseTimeout` ends what never gets through.
 */
const outgoing = {
  // We must know whether money was spent before the run ends.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // A node whose worker died goes on within 15 s.
  heartbeatTimeout: '10s',
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
} as const;

// Longest request (300 s; for models 600 s) plus time to load, render and record, and to wait for memory.
const http = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: '15m' });
const llm = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: '11m' });
/** An agent's steps: one model call, or all tool calls of a turn side by side. */
export const agentSteps = llm;
// Also connects, twice where the session of an earlier node is gone.
const mcp = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: '12m' });

// Reads a few rows and writes one: local, one event and no task-queue trip. Tried until it gets through.
const local = proxyLocalActivities<Activities>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // Some of it waits for memory that others hold.
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

/** Never gives up: without it a run would have no end. Short and urgent, since pollers wait for it. */
export const terminal = proxyActivities<Pick<Activities, 'finishRun'>>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '15s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
  priority: { priorityKey: 1 },
});

export interface NodeCall {
  runId: string;
  nodeId: string;
  /** Shown in the Temporal UI. */
  summary: string;
}

type RunNode = (call: NodeCall) => Promise<{ branch?: Branch }>;
/** An agent is a loop of its own: agent-loop.ts. */
type SingleStepKind = Exclude<NodeKind, 'agent'>;

/** One line a node kind. `activityId` is the node's id, so that the UI and our tables line up. */
export const runNodeOfKind = {
  trigger: ({ summary, ...node }) => local.trigger.executeWithOptions({ summary }, [node]),
  condition: ({ summary, ...node }) => local.condition.executeWithOptions({ summary }, [node]),
  http: ({ summary, ...node }) => http.httpRequest.executeWithOptions({ summary, activityId: node.nodeId }, [node]),
  llm: ({ summary, ...node }) => llm.llmRequest.executeWithOptions({ summary, activityId: node.nodeId }, [node]),
  mcp: ({ summary, ...node }) => mcp.mcpTool.executeWithOptions({ summary, activityId: node.nodeId }, [node]),
} satisfies Record<SingleStepKind, RunNode> as Record<SingleStepKind, RunNode>;
