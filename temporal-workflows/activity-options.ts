// How the run workflow calls each activity. Everything is said explicitly: the SDK's documented default for
// `cancellationType` is not what goes on the wire.
import { ActivityCancellationType, isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/worker/create-activities.js';
import type { FinishRunInput } from '../activities/node/finish-run.js';
import type { FusedFacts, FusedRef } from '../activities/dense/fused-nodes.js';
import type { NodeKind } from '../graph/plan.js';
import { nodeFailureOf } from './node-failure.js';

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

// Two of the longest calls (models 600 s, MCP tools 600 s and to connect twice, requests 300 s: a row may begin with one and
// end with another), plus time to load, render and record, and to wait for memory.
const normal = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: '30m' });
/** An agent's steps: one model call, or all tool calls of a turn side by side. */
export const agentSteps = proxyActivities<Activities>({ ...outgoing, startToCloseTimeout: '11m' });

// Reads a few rows and writes one: local, one event and no task-queue trip. Tried until it gets through.
const local = proxyLocalActivities<Activities>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // Some of it waits for memory that others hold.
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

/**
 * One quick try within the workflow task; what it leaves undone goes on as a normal activity. The activity itself gives
 * up sooner (`LOCAL_TRY_MS`): this ends one that hangs in our own parts.
 */
const quick = proxyLocalActivities<Activities>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '6s',
  retry: { maximumAttempts: 1 },
});

/** Never gives up: without it a run would have no end. Short and urgent, since pollers wait for it. */
const terminal = proxyActivities<Pick<Activities, 'finishRun'>>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '15s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
  priority: { priorityKey: 1 },
});

/** What an activity is told, and the Temporal UI shows. */
export interface NodeCall {
  node: FusedRef;
  /** Of a normal activity: its node's id, so that the UI and our tables line up. */
  activityId: string;
  summary: string;
}

type RunNode = (call: NodeCall) => Promise<FusedFacts>;
/** An agent is a loop of its own: agent-loop.ts. */
export type SingleStepKind = Exclude<NodeKind, 'agent'>;

/** One line a node kind. */
export const runNodeOfKind = {
  trigger: ({ summary, node }) => local.trigger.executeWithOptions({ summary }, [node]),
  condition: ({ summary, node }) => local.condition.executeWithOptions({ summary }, [node]),
  http: ({ node, ...options }) => normal.httpRequest.executeWithOptions(options, [node]),
  llm: ({ node, ...options }) => normal.llmRequest.executeWithOptions(options, [node]),
  mcp: ({ node, ...options }) => normal.mcpTool.executeWithOptions(options, [node]),
} satisfies Record<SingleStepKind, RunNode> as Record<SingleStepKind, RunNode>;

/** The kinds of which a node may be tried locally first. */
const tryNodeOfKind: Partial<Record<NodeKind, RunNode>> = {
  http: ({ summary, node }) => quick.httpRequest.executeWithOptions({ summary }, [node]),
  mcp: ({ summary, node }) => quick.mcpTool.executeWithOptions({ summary }, [node]),
};

const REPORT = 'Report the end of the run';

/** The run's end, told within the workflow task where that works at once. */
export async function reportEnd(end: FinishRunInput, isLocalFirst: boolean): Promise<void> {
  if (isLocalFirst) {
    const isDone = await quick.finishRun.executeWithOptions({ summary: REPORT }, [end]).then(
      () => true,
      () => false,
    );
    if (isDone) return;
  }
  await terminal.finishRun.executeWithOptions({ summary: REPORT }, [end]);
}

/** All that it was to begin with. */
function undoneOf({ beside }: FusedRef): FusedFacts {
  if (beside === undefined) return { goOnAfterMs: 0 };
  return { undone: Array.from({ length: beside.length + 1 }, (_, place) => [place, 0]) };
}

/**
 * A node placed locally. What the try has left undone, a normal activity goes on with, which counts the tries on.
 * Throws what ends the node: its own failure, or the run's cancellation.
 */
export async function tryNodeLocally(kind: NodeKind, call: NodeCall): Promise<FusedFacts> {
  const attempt = tryNodeOfKind[kind];
  if (attempt === undefined) return undoneOf(call.node);
  try {
    return await attempt({ ...call, summary: `${call.summary} (local)` });
  } catch (error) {
    // The node's own end, as opposed to trouble of ours (a database that is away, a time-out).
    if (isCancellation(error) || nodeFailureOf(error)?.nonRetryable === true) throw error;
    return undoneOf(call.node);
  }
}
