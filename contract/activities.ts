// The messages between the run workflow and its activities. Temporal's history stores them, so they hold ids, handles,
// codes, numbers, and the titles and labels that the Temporal UI shows, but never inputs, prompts, answers or secrets
// (docs/adr/0001-claim-check.md).
import type { KindThatRuns, kinds } from '../graph/kinds.js';
import type { Handle, NodeKey, Plan } from '../graph/plan.js';
import type { ReusedNode } from '../graph/planner.js';
import type { Stretch } from '../graph/stretch.js';

/** The handles by which a node that has succeeded was left. */
export interface NodeFacts {
  /** Absent for the ordinary links. */
  handle?: Handle;
  alsoHandles?: Handle[];
}

/**
 * The input of an activity that executes one or more nodes and then the nodes after them (docs/adr/0011-one-walk.md):
 * the key of the first node, and the nodes of its scope about which no other activity decides.
 */
export interface WalkRef extends NodeKey, Stretch {
  /** Set if the activity may also execute later HTTP, MCP and code nodes (`settings.execution`). */
  stride?: 'dense';
  /** The index of the iteration that starts when this activity ends the current one. Absent if none does. */
  next?: number;
}

/** The outcome of a node, by its number in the scope's plan: the handles by which it was left, or its error code. */
export type WalkedEnd = [node: number, handle: Handle, ...alsoHandles: Handle[]] | [node: number, code: string];

/** The nodes that an activity has attempted. If the first one fails, the activity's failure contains this. */
export interface Walked {
  /** The ends, in the order in which the nodes ended. */
  ends: WalkedEnd[];
  /** Nodes that the run workflow must start again, at once if `afterMs` is 0. */
  later?: [node: number, afterMs: number][];
  /** Nodes that start again once their connection is ready, or at the end of their wait. */
  waits?: [node: number, wait: WaitFacts][];
  /**
   * Set if the first node belongs to another pool now, so no node was attempted: from now on the run asks for the pool
   * of each node before it starts the node.
   */
  isElsewhere?: true;
  /** Set if the activity has recorded the end of the run. */
  isRunEnded?: true;
  iteration?: EndIterationFacts;
}

/**
 * The input of `settleWalk`, which finds out how the nodes of an activity ended if Temporal gave up on the activity, or
 * if its pool was refused.
 */
export interface SettleWalkRef extends NodeKey, Pick<Stretch, 'nodes' | 'begins'> {
  /** The error code for the first node, unless it has ended, and for nodes that are still in progress. */
  code: string;
}

export interface TurnRef extends NodeKey {
  turn: number;
}

/** The input of `enterPool`: nodes that start together, which name the same pool or none. */
export interface EnterPoolRef extends NodeKey {
  others?: string[];
  /** Absent if the nodes name none. */
  pool?: string;
}

/** `refused`: the project does not have the pool that the nodes name. */
export type EnteredPool = { pool: string } | { refused: true };

export interface LoadedPlan {
  plan: Plan;
  /** Has the meaning of `RunGraphInput.hasPools`. */
  hasPools?: true;
  /** Set if one activity may execute several HTTP, MCP and code nodes (`settings.execution`). */
  stride?: 'dense';
}

export interface TurnFacts {
  /** Set after the final turn: the nodes that the activity has attempted. */
  final?: Walked;
  /** Ids of the approval requests that the turn's tool calls wait for. */
  approvals: string[];
  /** Time until the approval requests expire. */
  waitMs: number;
  /** Set if the agent has to wait for a connection and then repeat the turn. */
  wait?: WaitFacts;
  /** Set if the turn must be repeated in the pool of the agent (`Walked.isElsewhere`). */
  isElsewhere?: true;
}

/** The waits that the tool calls of one turn of an agent leave open. */
export interface ToolsFacts {
  /** The open runs that the tool calls have started. */
  runs: ChildToStart[];
  /** The time until which the agent waits for these runs, in milliseconds since the epoch. */
  untilMs: number;
  /** Set if the agent has to wait for a connection and then make the remaining calls. */
  wait?: WaitFacts;
  /** Set if the calls must be made in the pool of the agent (`Walked.isElsewhere`). */
  isElsewhere?: true;
}

export interface FinishRunInput {
  runId: string;
  status: 'succeed' | 'failed' | 'cancelled';
  error?: RunError;
}

/**
 * The error of a run, and the node that caused it, if one did. The code `stalled`: the run ended because nodes were
 * still open, but none of them could start.
 */
export interface RunError {
  code: string;
  node?: Pick<NodeKey, 'path' | 'nodeId'>;
}

/** The properties of a loop that the run workflow needs. Histories have recorded their names. */
export interface LoopFacts {
  /** The number of iterations; of a conditional loop, the maximum. */
  count: number;
  concurrency: number;
  survivesFailures: boolean;
  /** True if the loop may end before `count` (`until`). */
  isConditional: boolean;
  /** The indexes of iterations that are reused as a whole from an earlier run. Absent if there are none. */
  kept?: number[];
  /**
   * Nodes with results reused from an earlier run, by the index of their unfinished iteration. Absent if there are
   * none.
   */
  begun?: [index: number, nodes: ReusedNode[]][];
  /** Set if the loop's condition holds after the last reused iteration. */
  isOver?: true;
}

/** The input of the activity that ends an iteration. The inherited key is that of the loop. */
export interface EndIterationRef extends NodeKey {
  index: number;
  failure?: string;
  /** The index of the iteration that starts when this one ends. */
  next?: number;
}

export interface EndIterationFacts {
  /** The error code if the iteration has failed. */
  failure?: string;
  /** True if the loop's condition to end holds. */
  isOver?: boolean;
}

export interface EndLoopRef extends NodeKey {
  /** The failed iteration that makes the loop fail. */
  failure?: { code: string; index: number };
  /**
   * Set for a conditional loop. `rounds` is the index of its last iteration plus 1. `isOver` is true if the condition
   * holds, or if a test run executes only one iteration, so that the limit does not fail the loop.
   */
  rounds?: number;
  isOver?: boolean;
}

export interface WaitFacts {
  for: WaitReason;
  /** The time at which the wait ends, in milliseconds since the epoch. */
  untilMs: number;
  /** Set if the wait is already over: its event has arrived, its time has passed, or the node need not wait. */
  isOver?: true;
  /** The run of a sub-workflow, which is accepted and open. */
  child?: ChildToStart;
}

/**
 * The fields needed to start a run that a sub-workflow node, a tool call of an agent or a schedule has accepted. The
 * run itself is in Postgres.
 */
export interface ChildToStart {
  runId: string;
  workflowId: number;
  projectId: number;
  /** Shown in the Temporal UI: the title of the run's workflow. */
  summary: string;
  /** The limit on the run's whole duration. */
  timeoutDays: number;
  /** Passed on as `RunGraphInput.keepsResults`. */
  keepsResults?: true;
}

export type WaitReason = 'time' | 'callback' | 'human' | 'child' | 'connection';

export interface EndWaitRef extends NodeKey {
  wait: WaitFacts;
  /** True if a link leaves the node at its timeout. */
  hasTimeoutLink: boolean;
}

/** `isWaiting` is set if the wait isn't over yet: the node was woken too early, or its timer ended too early. */
export interface EndWaitFacts extends NodeFacts {
  isWaiting?: true;
}

type Walk = (ref: WalkRef) => Promise<Walked>;

/**
 * The node activities by the names that operators see: one for each kind that takes one activity
 * (`KindTraits.activity`).
 */
export type NodeActivities = Record<(typeof kinds)[KindThatRuns<'activity' | 'inline'>]['activity'], Walk>;

/** The activities that start a wait: one for each kind that waits. */
export type StartWaitActivities = Record<
  (typeof kinds)[KindThatRuns<'wait'>]['activity'],
  (ref: NodeKey) => Promise<WaitFacts>
>;

export interface Activities extends NodeActivities, StartWaitActivities {
  /** Loads the plan and settings of a run whose input doesn't contain its plan. */
  loadPlan: (run: Pick<NodeKey, 'runId'>) => Promise<LoadedPlan>;
  /** Loads the nodes whose results the run reuses from an earlier one. Histories have recorded the name. */
  loadKept: (run: Pick<NodeKey, 'runId'>) => Promise<ReusedNode[]>;
  /** Decides in which pool nodes are executed. If it is not the default one, stores that they wait for its workers. */
  enterPool: (ref: EnterPoolRef) => Promise<EnteredPool>;
  agentTurn: (ref: TurnRef & WalkRef) => Promise<TurnFacts>;
  /**
   * Makes the tool calls of a turn. Returns undefined once every call has a result; until then the workflow repeats
   * this activity.
   */
  agentTools: (ref: TurnRef) => Promise<ToolsFacts | undefined>;
  /**
   * Ends a node that has a fixed result, then executes the nodes after it. Called for kinds that take several
   * activities and, if the project has pools, also for kinds that take one. Histories have recorded the name.
   */
  takeGiven: Walk;
  finishRun: (end: FinishRunInput) => Promise<void>;
  settleWalk: (ref: SettleWalkRef) => Promise<Walked>;
  forEach: (loop: NodeKey) => Promise<LoopFacts>;
  loop: (loop: NodeKey) => Promise<LoopFacts>;
  endIteration: (ref: EndIterationRef) => Promise<EndIterationFacts>;
  endLoop: (end: EndLoopRef) => Promise<NodeFacts>;
  endWait: (ref: EndWaitRef) => Promise<EndWaitFacts>;
}
