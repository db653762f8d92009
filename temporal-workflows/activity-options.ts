// How the run workflow calls each activity. Everything is said explicitly: the SDK's documented default for
// `cancellationType` is not what goes on the wire.
import {
  ActivityCancellationType,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  sleep,
} from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.js';
import type { FinishRunInput } from '../activities/finish-run.js';
import type { NodeFacts } from '../activities/run-node.js';
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

/**
 * One quick try within the workflow task; what it leaves undone goes on as a normal activity. The activity itself gives
 * up sooner (`LOCAL_TRY_MS`): this ends one that hangs in our own parts.
 */
const quick = proxyLocalActivities<Activities>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '4s',
  retry: { maximumAttempts: 1 },
});

/** Never gives up: without it a run would have no end. Short and urgent, since pollers wait for it. */
const terminal = proxyActivities<Pick<Activities, 'finishRun'>>({
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  startToCloseTimeout: '15s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
  priority: { priorityKey: 1 },
});

export interface NodeCall {
  runId: string;
  nodeId: string;
  /** See `NodeRef`. */
  isFirst?: boolean;
  /** Shown in the Temporal UI. */
  summary: string;
}

type RunNode = (call: NodeCall) => Promise<NodeFacts>;
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

/** The kinds of which a node may be tried locally first. */
const tryNodeOfKind: Partial<Record<NodeKind, RunNode>> = {
  http: ({ summary, ...node }) => quick.httpRequest.executeWithOptions({ summary }, [node]),
  mcp: ({ summary, ...node }) => quick.mcpTool.executeWithOptions({ summary }, [node]),
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

/**
 * A node placed locally: undefined when the try has left it undone for a normal activity to go on with, which counts the
 * tries on. Throws what ends the node: its own failure, or the run's cancellation.
 */
export async function tryNodeLocally(kind: NodeKind, call: NodeCall): Promise<NodeFacts | undefined> {
  const attempt = tryNodeOfKind[kind];
  if (attempt === undefined) return undefined;
  try {
    const facts = await attempt({ ...call, summary: `${call.summary} (local)` });
    if (facts.goOnAfterMs === undefined) return facts;
    if (facts.goOnAfterMs > 0) await sleep(facts.goOnAfterMs);
    return undefined;
  } catch (error) {
    // The node's own end, as opposed to trouble of ours (a database that is away, a time-out).
    if (isCancellation(error) || nodeFailureOf(error)?.nonRetryable === true) throw error;
    return undefined;
  }
}
