// The messages between the run workflow and its activities. Temporal's history stores them, so they hold ids, handles,
// codes and numbers, never contents.
import type { KindThatRuns, kinds } from '../graph/kinds.js';
import type { Handle, NodeKey, Plan } from '../graph/plan.js';
import type { KeptNode } from '../graph/planner.js';
import type { Stretch } from '../graph/stretch.js';

/** How a node was left that has succeeded. */
export interface NodeFacts {
  /** The named handle. Absent for its ordinary links. */
  handle?: Handle;
  /** Further handles. */
  alsoHandles?: Handle[];
}

/**
 * The input of an activity that executes a node and walks on (docs/adr/0011-one-walk.md): the node, and the part of the
 * scope that is the activity's own.
 */
export interface WalkRef extends NodeKey, Stretch {
  /** Absent in visible execution. */
  stride?: 'dense';
  /** The iteration that begins in place of the one that this activity may end. Absent for none. */
  next?: number;
}

/** How a node has ended, with its number in the scope's plan: the handles by which it was left, or the code of its failure. */
export type WalkedEnd = [node: number, handle: Handle, ...alsoHandles: Handle[]] | [node: number, code: string];

/** The nodes that an activity has walked through. When the activity fails, the failure's details hold them. */
export interface Walked {
  /** In the order in which the nodes have ended. */
  ends: WalkedEnd[];
  /** Nodes that are attempted again, after so many milliseconds. Absent where there are none. */
  later?: [node: number, afterMs: number][];
  /** Nodes that wait for a connection, and are started again then. Absent where there are none. */
  waits?: [node: number, wait: WaitFacts][];
  /** The activity has written the end of the run. */
  isRunEnded?: true;
  /** The activity has ended the iteration. */
  iteration?: EndIterationFacts;
}

/** The input of the activity that finds out what is left of one on which Temporal has given up. */
export interface SettleWalkRef extends NodeKey, Pick<Stretch, 'nodes' | 'begins'> {
  /** The code with which the nodes have failed that are still in progress. */
  code: string;
}

/** The input of the activities of one turn of an agent. */
export interface TurnRef extends NodeKey {
  turn: number;
}

/** The plan that a run executes, and its settings. */
export interface LoadedPlan {
  plan: Plan;
  /** Absent in visible execution. */
  stride?: 'dense';
}

/** The result of the model call of one turn of an agent. */
export interface TurnFacts {
  /** After the final turn, what the activity has walked through. */
  final?: Walked;
  /** Ids of the approval requests that the turn's tool calls wait for. */
  approvals: string[];
  /** Time until the approval requests expire. */
  waitMs: number;
  /** The agent waits for a connection first, and the turn is begun again then. */
  wait?: WaitFacts;
}

/** What is still awaited after the tool calls of one turn of an agent: the runs that they have started. */
export interface ToolsFacts {
  /** The runs that they have started, and that are open. */
  runs: ChildToStart[];
  /** The time until which these are waited for, in milliseconds since the epoch. */
  untilMs: number;
  /** The agent waits for a connection first, and the calls that are left are made then. */
  wait?: WaitFacts;
}

/** The input of the activity that writes a run's end. */
export interface FinishRunInput {
  runId: string;
  status: 'succeed' | 'failed' | 'cancelled';
  error?: RunError;
}

/** Why a run failed, and at which node. A stalled run has no node. */
export interface RunError {
  code: string;
  node?: Pick<NodeKey, 'path' | 'nodeId'>;
}

/** The run workflow needs these facts of a loop that begins. */
export interface LoopFacts {
  /** The number of iterations, or of rounds at most. */
  count: number;
  concurrency: number;
  /** Whether the loop survives the failure of an iteration. */
  survivesFailures: boolean;
  /** Whether the loop may end before `count` (`until`). */
  isConditional: boolean;
  /** The iterations whose ends an earlier run has left. Absent where there are none. */
  kept?: number[];
  /** The nodes that an earlier run has left of other iterations, by their indexes. Absent where there are none. */
  begun?: [index: number, nodes: KeptNode[]][];
  /** The condition of a conditional loop holds after the last iteration that is kept. */
  isOver?: true;
}

/** The input of the activity that ends an iteration of a loop, whose key it has. */
export interface EndIterationRef extends NodeKey {
  index: number;
  /** The code with which the iteration has failed. */
  failure?: string;
  /** The iteration that begins in its place. */
  next?: number;
}

export interface EndIterationFacts {
  /** The code with which the iteration has failed after all: its output could not be made. */
  failure?: string;
  /** Whether the condition holds after which the loop ends. */
  isOver?: boolean;
}

/** The input of the activity that ends a loop. */
export interface EndLoopRef extends NodeKey {
  /** Why it has failed: in the iteration with this index. */
  failure?: { code: string; index: number };
  /** The number of rounds of a conditional loop, and whether its condition holds. */
  rounds?: number;
  isOver?: boolean;
}

/** How the wait of a node begins. */
export interface WaitFacts {
  for: WaitReason;
  /** The time at which the wait ends, in milliseconds since the epoch. */
  untilMs: number;
  /** Whether the wait is over when it begins: what it waits for has come, its time has, or nobody waits. */
  isOver?: true;
  /** The run of a sub-workflow, which is accepted and open. */
  child?: ChildToStart;
}

/** Starting the run of a sub-workflow needs this. The run itself is in Postgres. */
export interface ChildToStart {
  runId: string;
  workflowId: number;
  projectId: number;
  /** The summary that the Temporal UI shows: the title of its workflow. */
  summary: string;
  /** How long the run may last in all. */
  timeoutDays: number;
  /** This is passed on as `RunGraphInput.keepsResults`. */
  keepsResults?: true;
}

/** The thing that a node of a waiting kind waits for. */
export type WaitReason = 'time' | 'callback' | 'human' | 'child' | 'connection';

/** The input of the activity that ends the wait of a node. */
export interface EndWaitRef extends NodeKey {
  wait: WaitFacts;
  /** Whether a link of the node is taken when its time is up. */
  hasTimeoutLink: boolean;
}

/** `isWaiting`: the wait is not over, although its node was woken. */
export interface EndWaitFacts extends NodeFacts {
  isWaiting?: true;
}

type Walk = (ref: WalkRef) => Promise<Walked>;

/**
 * The node activities by the names that operators see. Each kind that is one activity has its own
 * (`KindTraits.activity`).
 */
export type NodeActivities = Record<(typeof kinds)[KindThatRuns<'activity' | 'inline'>]['activity'], Walk>;

/** Each kind that waits has an activity that begins the wait of a node. */
export type BeginWaitActivities = Record<
  (typeof kinds)[KindThatRuns<'wait'>]['activity'],
  (ref: NodeKey) => Promise<WaitFacts>
>;

export interface Activities extends NodeActivities, BeginWaitActivities {
  /** The plan and the settings of a run that was started without its plan. */
  loadPlan: (run: Pick<NodeKey, 'runId'>) => Promise<LoadedPlan>;
  /** The nodes that a run has taken over from an earlier one. */
  loadKept: (run: Pick<NodeKey, 'runId'>) => Promise<KeptNode[]>;
  agentTurn: (ref: TurnRef & WalkRef) => Promise<TurnFacts>;
  /** Makes the tool calls of a turn. Undefined once each has its answer; until then it is repeated. */
  agentTools: (ref: TurnRef) => Promise<ToolsFacts | undefined>;
  /** Ends a node of a test run that is given its result, of a kind that takes several activities, and walks on. */
  takeGiven: Walk;
  finishRun: (end: FinishRunInput) => Promise<void>;
  settleWalk: (ref: SettleWalkRef) => Promise<Walked>;
  forEach: (loop: NodeKey) => Promise<LoopFacts>;
  loop: (loop: NodeKey) => Promise<LoopFacts>;
  endIteration: (ref: EndIterationRef) => Promise<EndIterationFacts>;
  endLoop: (end: EndLoopRef) => Promise<NodeFacts>;
  /** Ends the wait of a node, if it is over. */
  endWait: (ref: EndWaitRef) => Promise<EndWaitFacts>;
}
