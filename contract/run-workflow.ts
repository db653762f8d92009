// The messages between the API and the run workflow. Both sides import this file, so it has no dependencies at run
// time.
import type { NodeKey, Plan } from '../graph/plan.js';
import type { PlannerSnapshot } from '../graph/planner.js';
import type { LoopFacts, WaitFacts, WaitReason } from './activities.js';

/** Operators filter by this workflow type: `WorkflowType='runGraph'`. */
export const RUN_WORKFLOW_TYPE = 'runGraph';

/**
 * Search attributes of a run and their types in Temporal. As attributes cannot be encrypted, they hold no user text.
 */
export const RUN_SEARCH_ATTRIBUTES = { ProjectId: 'Keyword', WorkflowDefId: 'Keyword', RunState: 'Keyword' } as const;

/**
 * The limit on the activities of one run that are in flight at once. An activity may execute several nodes. Nodes that
 * start again or continue after a wait may exceed the limit. While a workflow task is open, each completion is buffered
 * as two events, and the server fails the task at 100 buffered events. A limit of 32 leaves room for all completions
 * and for signals.
 */
export const MAX_NODES_IN_FLIGHT = 32;

/** The Temporal priority (1 is served first, 5 last) of every run. Projects share workers by their fairness keys. */
export const RUN_PRIORITY = 3;

export interface RunGraphInput {
  runId: string;
  /**
   * Absent for a run that starts as a child workflow (`ChildToStart`): it loads its plan, so that the history of the
   * parent workflow doesn't contain the plan.
   */
  plan?: Plan;
  maxInFlight: number;
  /** Set if one activity may execute several HTTP, MCP and code nodes (`settings.execution`). */
  stride?: 'dense';
  /** Set for a run that reuses results of an earlier run; the workflow loads the list of their nodes. */
  keepsResults?: true;
  /**
   * Set if nodes of the run may belong to another pool than the default one: the workflow asks for the pool of each
   * node before it starts the node.
   */
  hasPools?: true;
  /** Set if the run continues as new. */
  resumed?: ResumedRun;
}

/**
 * A scope in flight: the drawing outside bodies, or an iteration of a loop. Node numbers are those of the scope's plan.
 */
export interface ScopeSnapshot {
  planner: PlannerSnapshot;
  /** The loops in progress. */
  loops?: LoopSnapshot[];
  /** The code of the failure that ended the iteration. */
  failure?: string;
  /** The iteration that starts when this one ends; null for none. Absent until it has been chosen. */
  next?: number | null;
}

export interface LoopSnapshot {
  node: number;
  facts: LoopFacts;
  next: number;
  open: [index: number, iteration: ScopeSnapshot][];
  /** The failed iteration that makes the loop fail. */
  failure?: { code: string; index: number };
  /** For a conditional loop: `isOver` is set if its condition to end holds, `rounds` counts the ended iterations. */
  isOver?: boolean;
  rounds?: number;
}

/**
 * The state from which a new execution continues. An entry of `agents` or `waits` has the node's number and, inside an
 * iteration, the node's path.
 */
export interface ResumedRun extends ScopeSnapshot {
  agents: [node: number, cursor: AgentCursor, path?: string][];
  decisions: [requestId: string, isApproved: boolean][];
  /** The waits in progress, and the woken nodes, named by `nodePlace`. Both are absent if the run has neither. */
  waits?: [node: number, wait: WaitFacts, path?: string][];
  woken?: string[];
}

/** The state from which an agent continues after any interruption. */
export interface AgentCursor {
  turn: number;
  /** Ids of the approval requests that this turn's tool calls wait for. */
  requests: string[];
  /** The time at which the requests expire, by the workflow's clock. */
  deadlineMs: number;
  /**
   * Set once the tool calls wait for runs that they have started: the end of that wait, in milliseconds since the epoch
   * (`ToolsFacts.untilMs`), by the clocks of the workers that have accepted these runs.
   */
  runsUntilMs?: number;
}

/** Signal: an approver has answered. The decision is already in Postgres; the signal wakes the run. */
export const DECIDE_SIGNAL = 'decide';

export interface Decision {
  requestId: string;
  isApproved: boolean;
}

/**
 * Signal: a node's wait may be over. Postgres decides if it is, so an extra signal does no harm, and a lost one is sent
 * again.
 */
export const WAKE_SIGNAL = 'wake';

export type Wake = Pick<NodeKey, 'path' | 'nodeId'>;

export const STATUS_QUERY = 'status';

export interface RunStatusAnswer {
  phase: 'running' | 'draining' | 'failing' | 'cancelling' | 'finishing';
  /**
   * The states of the nodes outside loop bodies, for operators, as one character per node in the plan's order: `0` not
   * decided, because links to it are still open, `1` ready, `2` started and not ended (also a node that waits), `3`
   * succeeded, `4` failed, `5` skipped, `6` cancelled.
   */
  states: string;
  live: LiveNode[];
}

export interface LiveNode {
  id: string;
  path: string;
  /** Absent unless the node waits. */
  waiting?: Waiting;
}

/** `untilMs`: the end of the wait, in milliseconds since the epoch. */
export interface Waiting {
  for: 'approval' | WaitReason;
  untilMs: number;
}

/**
 * Escapes user text, because the Temporal UI renders summaries and details as Markdown: the text must never become a
 * link or markup there.
 */
export function toMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>!#|~&]/g, '\\$&');
}
