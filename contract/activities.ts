// The messages between the run workflow and its activities. Temporal's history stores them, so they hold ids, handles,
// codes and numbers, never contents.
import type { KindThatRuns, kinds } from '../graph/kinds.js';
import type { Handle, NodeKey, Plan } from '../graph/plan.js';
import type { ChainFacts, ChainRef } from './dense.js';
import type { NodeFacts, NodeRef } from './nodes.js';

/** The input of the activities of one turn of an agent. */
export interface TurnRef extends NodeKey {
  turn: number;
}

/** The result of the model call of one turn of an agent. */
export interface TurnFacts {
  next: 'final' | 'tools';
  /** Ids of the approval requests that the turn's tool calls wait for. */
  approvals: string[];
  /** Time until the approval requests expire. */
  waitMs: number;
}

/** What the tool calls of one turn of an agent wait for. */
export interface ToolsFacts {
  /** The runs that they have started, and that are open. */
  runs: ChildToStart[];
  /** The time until which these are waited for, in milliseconds since the epoch. */
  untilMs: number;
}

/** The input of the activity that reports a run's end. */
export interface FinishRunInput {
  runId: string;
  /** The number of the execution update. The endpoint applies each number once. */
  sequence: number;
  status: 'succeed' | 'failed' | 'cancelled';
  error?: RunError;
}

/** Why a run failed, and at which node. A stalled run has no node. */
export interface RunError {
  code: string;
  node?: Pick<NodeKey, 'path' | 'nodeId'>;
}

/** The input of the activity that closes a node whose own activity could not record its failure. */
export interface CloseNodeInput extends NodeKey {
  code: string;
}

/** A node whose end an earlier run has left (`RunGraphInput.keepsResults`). */
export interface KeptNode {
  /** Its number in the plan of its scope. */
  node: number;
  /** The handles by which it was left; absent for its ordinary links. */
  handles?: Handle[];
  /** It failed, and its run survived that. */
  hasFailed?: true;
}

/** What the run workflow needs to know of a loop that begins. */
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
  /** What an earlier run has left of other iterations, by their indexes. Absent where there is nothing. */
  begun?: [index: number, nodes: KeptNode[]][];
  /** Of a conditional loop: its condition holds after the last one that is kept. */
  isOver?: true;
}

/** The input of the activity that ends iterations of a loop, whose key it has. */
export interface EndIterationsRef extends NodeKey {
  ends: IterationEnd[];
}

/** An iteration whose nodes have ended. */
export interface IterationEnd {
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
  /** Of a conditional loop: the number of rounds, and whether its condition holds. */
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

/** What starting the run of a sub-workflow needs. The run itself is in Postgres. */
export interface ChildToStart {
  runId: string;
  workflowId: number;
  projectId: number;
  /** The summary that the Temporal UI shows: the title of its workflow. */
  summary: string;
  /** How long the run may last in all. Absent where an earlier release has accepted it. */
  timeoutDays?: number;
  /** As in `RunGraphInput`. */
  keepsResults?: true;
}

/** What a node of a kind that waits waits for. */
export type WaitReason = 'time' | 'callback' | 'human' | 'child';

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

type RunNode = (ref: NodeRef) => Promise<NodeFacts>;

/**
 * The node activities by the names that operators see. Each kind that is one activity has its own
 * (`KindTraits.activity`).
 */
export type NodeActivities = Record<(typeof kinds)[KindThatRuns<'activity' | 'inline'>]['activity'], RunNode>;

/** Each kind that waits has an activity that begins the wait of a node. */
export type BeginWaitActivities = Record<
  (typeof kinds)[KindThatRuns<'wait'>]['activity'],
  (ref: NodeKey) => Promise<WaitFacts>
>;

export interface Activities extends NodeActivities, BeginWaitActivities {
  /** What a run executes that was started without its plan. */
  loadPlan: (run: Pick<NodeKey, 'runId'>) => Promise<Plan>;
  /** The nodes that a run has taken over from an earlier one. It also reports the run's start, as the trigger does. */
  loadKept: (run: Pick<NodeKey, 'runId'>) => Promise<KeptNode[]>;
  agentTurn: (ref: TurnRef) => Promise<TurnFacts>;
  /** Makes the tool calls of a turn. Undefined once each has its answer; until then it is repeated. */
  agentTools: (ref: TurnRef) => Promise<ToolsFacts | undefined>;
  finishRun: (end: FinishRunInput) => Promise<void>;
  /** Records the failure of a node that the run survives, where Temporal has given up the node's activity. */
  closeNode: (node: CloseNodeInput) => Promise<void>;
  forEach: (loop: NodeKey) => Promise<LoopFacts>;
  loop: (loop: NodeKey) => Promise<LoopFacts>;
  /** Returns the facts of each, in their order. */
  endIterations: (ref: EndIterationsRef) => Promise<EndIterationFacts[]>;
  endLoop: (end: EndLoopRef) => Promise<NodeFacts>;
  /** Ends the wait of a node, if it is over. */
  endWait: (ref: EndWaitRef) => Promise<EndWaitFacts>;
  /** Used by dense execution only: executes several nodes in one activity. */
  nodeChain: (ref: ChainRef) => Promise<ChainFacts>;
}
