// The messages between the API and the run workflow. Types and names only: both sides import this file.
import type { NodeKey, Plan } from '../graph/plan.js';
import type { PlannerSnapshot } from '../graph/planner.js';
import type { LoopFacts, WaitFacts, WaitReason } from './activities.js';

/** The workflow type that operators filter by: `WorkflowType='runGraph'`. */
export const RUN_WORKFLOW_TYPE = 'runGraph';

/**
 * Search attributes of a run and their types in Temporal. They never hold user text, because they cannot be encrypted.
 */
export const RUN_SEARCH_ATTRIBUTES = { ProjectId: 'Keyword', WorkflowDefId: 'Keyword', RunState: 'Keyword' } as const;

/**
 * The limit on nodes of one run that are in flight at once. While a workflow task is open, each completion is buffered
 * as two events, and the server fails the task at 100 buffered events. A limit of 32 leaves room for all completions
 * and for signals.
 */
export const MAX_NODES_IN_FLIGHT = 32;

/** The priority in Temporal (1 to 5) of runs by API key: after those that a person waits for, before bulk work. */
export const RUN_PRIORITY = 3;

export interface RunGraphInput {
  runId: string;
  /** Absent for the run of a sub-workflow, which loads it: the history of its parent should not hold it. */
  plan?: Plan;
  maxInFlight: number;
  /** Absent in visible execution. */
  stride?: 'dense';
  /** Set for a run that has taken over results of an earlier one, and loads which ones. */
  keepsResults?: true;
  /** Set when the run continues in a new execution (continue-as-new). */
  resumed?: ResumedRun;
}

/** A scope in flight: the drawing outside bodies, or an iteration of a loop. Nodes are numbered as in the scope's plan. */
export interface ScopeSnapshot {
  planner: PlannerSnapshot;
  /** The loops that have begun and not ended. Absent where there are none. */
  loops?: LoopSnapshot[];
  /** The code of the failure that has ended the iteration. */
  failure?: string;
  /** The iteration that begins in place of this one; null for none. Absent as long as it has not been chosen. */
  next?: number | null;
}

/** A loop that has begun. */
export interface LoopSnapshot {
  node: number;
  facts: LoopFacts;
  /** The index of the iteration that begins next. */
  next: number;
  open: [index: number, iteration: ScopeSnapshot][];
  /** Why the loop has failed: in the iteration with this index. */
  failure?: { code: string; index: number };
  /** Whether the condition of a conditional loop holds, and the number of rounds that have ended. */
  isOver?: boolean;
  rounds?: number;
}

/** Nodes that have begun are told by their numbers and, where they are in an iteration, its path. */
export interface ResumedRun extends ScopeSnapshot {
  /** The cursor from which each agent continues. */
  agents: [node: number, cursor: AgentCursor, path?: string][];
  decisions: [requestId: string, isApproved: boolean][];
  /** The waits that have begun. Absent where there are none, as are the nodes that were woken (`nodePlace`). */
  waits?: [node: number, wait: WaitFacts, path?: string][];
  woken?: string[];
}

/** The state that an agent needs to continue after any interruption. */
export interface AgentCursor {
  turn: number;
  /** Ids of the approval requests that this turn's tool calls wait for. */
  requests: string[];
  /** The time at which the requests expire, by the workflow's clock. */
  deadlineMs: number;
  /** Set once this turn's tool calls wait for runs that they have started: until when, by the workflow's clock. */
  runsUntilMs?: number;
}

/** The signal `decide`: an approver has answered. The decision is stored in Postgres, and the signal wakes the run. */
export const DECIDE_SIGNAL = 'decide';

export interface Decision {
  requestId: string;
  isApproved: boolean;
}

/**
 * The signal `wake`: what a node waits for may have come. Postgres decides whether it has, so that a signal too many does
 * no harm, and one too few is sent again.
 */
export const WAKE_SIGNAL = 'wake';

export type Wake = Pick<NodeKey, 'path' | 'nodeId'>;

/** The query `status` returns the current state of the run. */
export const STATUS_QUERY = 'status';

export interface RunStatusAnswer {
  phase: 'running' | 'draining' | 'failing' | 'cancelling' | 'finishing';
  /**
   * One character per node in the plan's order, for operators: `0` waiting, `1` ready, `2` running, `3` succeeded, `4`
   * failed, `5` skipped, `6` cancelled.
   */
  states: string;
  /** Nodes that have begun and have not ended. */
  live: LiveNode[];
}

export interface LiveNode {
  id: string;
  path: string;
  /** Absent while the node is running. */
  waiting?: Waiting;
}

/** The reason why a node waits, and the time at which the wait ends, in milliseconds since the epoch. */
export interface Waiting {
  for: 'approval' | WaitReason;
  untilMs: number;
}

/**
 * The Temporal UI renders summaries and details as Markdown. Escapes user text, so that it is never a link or markup.
 */
export function toMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>!#|~&]/g, '\\$&');
}
