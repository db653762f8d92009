// How the workflows of runs and of firings call their activities. Every call sets `cancellationType`, because the SDK's
// actual default differs from the documented one.
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import type {
  Activities,
  StartWaitActivities,
  ChildToStart,
  EndIterationFacts,
  EndIterationRef,
  EndLoopRef,
  EndWaitFacts,
  EndWaitRef,
  EnteredPool,
  EnterPoolRef,
  FinishRunInput,
  LoadedPlan,
  LoopFacts,
  NodeActivities,
  NodeFacts,
  SettleWalkRef,
  TurnFacts,
  TurnRef,
  ToolsFacts,
  WaitFacts,
  Walked,
  WalkRef,
} from '../contract/activities.js';
import { activityIdOf } from '../contract/node-names.js';
import type { FiringRef, ScheduleActivities } from '../contract/scheduled-run.js';
import { kinds, type KindThatRuns } from '../graph/kinds.js';
import type { NodeKey } from '../graph/plan.js';
import { DEFAULT_POOL, queueOfPool } from '../graph/pools.js';
import type { ReusedNode } from '../graph/planner.js';

/**
 * The activity itself decides how often a node is attempted. It counts the attempts in the database, so a retry by
 * Temporal while the database is away is no attempt. After the last attempt it fails with a non-retryable failure.
 * Temporal's retry policy only sets the delay between retries, and in the default pool `scheduleToCloseTimeout` ends an
 * activity that never succeeds (docs/adr/0004-attempts-counted-in-postgres.md).
 */
const outgoing = {
  // A run must not end before it knows whether its calls were charged.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // A node whose worker died is retried 11 s after the last heartbeat, or up to 20 s after it if the activity was
  // retried before, as soon as a worker is free.
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
} as const;

// Allows for two of the longest calls (models and MCP tools 600 s, requests 300 s), because a model may be asked a
// second time, and an activity may start another node until shortly after its first one has ended. Each call adds 2 min
// in which its answer waits for memory, 2 min to connect twice and 30 min to record while the database is away or full.
// The rest allows for waiting for memory before a call.
// Heartbeats detect a dead worker, so this limit only has to be long enough never to cut off a call that is paid for.
const NODE_LIMIT = '90m';
const nodeOptions = { ...outgoing, startToCloseTimeout: NODE_LIMIT } as const;
/** A turn may request 128 calls of 600 s each, and 8 run in parallel: 2 h 40 min, plus time to connect. */
const longOptions = { ...outgoing, startToCloseTimeout: '4h' } as const;
/** With `takeWithin`, an activity in the default pool that never succeeds ends after `takeWithin` plus this time. */
const GIVE_UP_SECONDS = 24 * 3600;
const inActivity = proxyActivities<NodeActivities & Pick<Activities, 'agentTurn'>>({
  ...nodeOptions,
  scheduleToCloseTimeout: '24h',
});
const inLongActivity = proxyActivities<Pick<Activities, 'agentTools'>>({
  ...longOptions,
  scheduleToCloseTimeout: '24h',
});
// Outside the default pool there is no `scheduleToCloseTimeout`: a pool's operator decides when its workers run, so
// nodes of the pool may wait as long as their run lasts.
const inPool = proxyActivities<NodeActivities & Pick<Activities, 'agentTurn'>>(nodeOptions);
const inPoolForLong = proxyActivities<Pick<Activities, 'agentTools'>>(longOptions);

/** The pool in which a node is executed, and how long the node may wait for a worker of the pool. */
export interface Place {
  /** Absent for the default pool. */
  pool?: string;
  /** In seconds; absent if the node sets no limit. */
  takeWithin?: number;
}

function optionsOf({ pool, takeWithin }: Place): ActivityOptions {
  return {
    ...(pool !== undefined && { taskQueue: queueOfPool(workflowInfo().taskQueue, pool) }),
    ...(takeWithin !== undefined && { scheduleToStartTimeout: takeWithin * 1000 }),
    ...(takeWithin !== undefined &&
      pool === undefined && { scheduleToCloseTimeout: (takeWithin + GIVE_UP_SECONDS) * 1000 }),
  };
}

/**
 * The options of short activities, which make no requests or model calls and run no code. Such an activity costs one
 * history event and does not pass through a task queue, and Temporal retries it until it succeeds or fails for good.
 */
const inWorkflowTask = {
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // Some of these activities wait until other work releases memory.
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
  // An activity that requests a longer delay (`handedBack`) waits on a timer, outside the workflow task.
  localRetryThreshold: '6s',
} as const;
const inline = proxyLocalActivities<NodeActivities>(inWorkflowTask);

/** The kinds whose nodes take one activity. Agents, waits and loops take several. */
export type SingleStepKind = KindThatRuns<'activity' | 'inline'>;

/**
 * Executes a node, or several that start together, in the activity of the first one's kind, which then walks through
 * the nodes after them. Unless the activity is local, its id contains that of the first node, so that the Temporal UI
 * matches our tables.
 */
export function walk(kind: SingleStepKind, ref: WalkRef, summary: string, place: Place = {}): Promise<Walked> {
  const { activity, runs } = kinds[kind];
  if (runs === 'inline') return inline[activity].executeWithOptions({ summary }, [ref]);
  const proxy = place.pool === undefined ? inActivity : inPool;
  return proxy[activity].executeWithOptions({ summary, activityId: activityIdOf(ref), ...optionsOf(place) }, [ref]);
}

const entering = proxyLocalActivities<Pick<Activities, 'enterPool'>>(inWorkflowTask);

/** Thrown for a node that names a pool which its project does not have. */
export class PoolRefused extends Error {}

/** Returns the place of nodes that start together. Throws `PoolRefused`. */
export async function enterPool(ref: EnterPoolRef, takeWithin: number | undefined, summary: string): Promise<Place> {
  const entered: EnteredPool = await entering.enterPool.executeWithOptions({ summary: `${summary}: pool` }, [ref]);
  if ('refused' in entered) throw new PoolRefused();
  return {
    ...(entered.pool !== DEFAULT_POOL && { pool: entered.pool }),
    ...(takeWithin !== undefined && { takeWithin }),
  };
}

const fixing = proxyLocalActivities<Pick<Activities, 'takeGiven'>>(inWorkflowTask);

/**
 * Ends a node that has a fixed result, then executes the nodes after it. Called for kinds that take several activities,
 * and, if the run has pools, also for nodes that would otherwise wait for a worker of their pool.
 */
export function takeFixed(ref: WalkRef, summary: string): Promise<Walked> {
  return fixing.takeGiven.executeWithOptions({ summary: `${summary}: fixed` }, [ref]);
}

/**
 * Makes one model call of an agent, or two if a final answer doesn't have the required form. After the final answer,
 * walks through the nodes after the agent.
 */
export function callModel(ref: TurnRef & WalkRef, summary: string, place: Place): Promise<TurnFacts> {
  const options = { summary: `${summary}: turn ${ref.turn + 1}`, activityId: activityIdOf(ref, `${ref.turn}`) };
  const proxy = place.pool === undefined ? inActivity : inPool;
  return proxy.agentTurn.executeWithOptions({ ...options, ...optionsOf(place) }, [ref]);
}

export function callTools(ref: TurnRef, summary: string, place: Place): Promise<ToolsFacts | undefined> {
  const activityId = activityIdOf(ref, `${ref.turn}/tools`);
  const options = { summary: `${summary}: tools of turn ${ref.turn + 1}`, activityId };
  const proxy = place.pool === undefined ? inLongActivity : inPoolForLong;
  return proxy.agentTools.executeWithOptions({ ...options, ...optionsOf(place) }, [ref]);
}

const loading = proxyLocalActivities<Pick<Activities, 'loadKept' | 'loadPlan'>>(inWorkflowTask);

export function loadPlan(runId: string): Promise<LoadedPlan> {
  return loading.loadPlan.executeWithOptions({ summary: 'Load the plan' }, [{ runId }]);
}

export function loadReused(runId: string): Promise<ReusedNode[]> {
  return loading.loadKept.executeWithOptions({ summary: 'Load the reused results' }, [{ runId }]);
}

const waiting = proxyLocalActivities<StartWaitActivities & Pick<Activities, 'endWait'>>(inWorkflowTask);

/** The kinds that wait without holding a slot. */
export type WaitKind = KindThatRuns<'wait'>;

export function startWait(kind: WaitKind, key: NodeKey, summary: string): Promise<WaitFacts> {
  return waiting[kinds[kind].activity].executeWithOptions({ summary }, [key]);
}

export function endWait(node: EndWaitRef, summary: string): Promise<EndWaitFacts> {
  return waiting.endWait.executeWithOptions({ summary: `${summary}: end` }, [node]);
}

const looping = proxyLocalActivities<Pick<Activities, 'endIteration' | 'endLoop' | 'forEach' | 'loop'>>(inWorkflowTask);

export type LoopKind = KindThatRuns<'body'>;

export function startLoop(kind: LoopKind, loop: NodeKey, summary: string): Promise<LoopFacts> {
  return looping[kinds[kind].activity].executeWithOptions({ summary }, [loop]);
}

/** Ends an iteration that no activity of its nodes has ended. */
export function endIteration(ref: EndIterationRef, summary: string): Promise<EndIterationFacts> {
  return looping.endIteration.executeWithOptions({ summary: `${summary}: end of ${ref.index}` }, [ref]);
}

export function endLoop(end: EndLoopRef, summary: string): Promise<NodeFacts> {
  return looping.endLoop.executeWithOptions({ summary: `${summary}: end` }, [end]);
}

const ending = proxyLocalActivities<Pick<Activities, 'finishRun' | 'settleWalk'>>(inWorkflowTask);

/**
 * Ends the walk of an activity on which Temporal has given up, or whose pool was refused: fails the first node, unless
 * it has ended, and the nodes in progress. Returns the report of the walk.
 */
export function settleWalk(ref: SettleWalkRef): Promise<Walked> {
  return ending.settleWalk.executeWithOptions({ summary: 'Record a failure' }, [ref]);
}

/** Writes the end of a run that no activity of its nodes has written. */
export function finishRun(end: FinishRunInput): Promise<void> {
  return ending.finishRun.executeWithOptions({ summary: 'Record the end of the run' }, [end]);
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
