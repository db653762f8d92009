// What the API and the run workflow say to each other. Types and names only: this file is imported by both sides.
import type { Plan } from '../graph/plan.js';

/** The workflow type that operators filter by: `WorkflowType='runGraph'`. */
export const RUN_WORKFLOW_TYPE = 'runGraph';

/** Search attributes of a run and their types in Temporal. Never user text: they cannot be encrypted. */
export const RUN_SEARCH_ATTRIBUTES = { ProjectId: 'Keyword', WorkflowDefId: 'Keyword', RunState: 'Keyword' } as const;

/**
 * Nodes of one run that may be in flight at once. Completions that arrive while a workflow task is open are buffered
 * two events each, and the server fails the task at 100 buffered events: 32 leaves room for all of them and signals.
 */
export const MAX_NODES_IN_FLIGHT = 32;

export interface RunGraphInput {
  runId: string;
  plan: Plan;
  maxInFlight: number;
  /** One character a node: `1` local, `2` normal, `0` alone (graph/placement.ts). Absent in runs that began before there was a choice. */
  local?: string;
  /**
   * Nodes in a row, and side by side, share an activity (fusion.ts). Absent in runs that began before they did, which go
   * on one by one. Workers that do not know of it must be gone before an API sets it (docs/upgrade.md).
   */
  isFused?: boolean;
  /** Set when the run goes on in a new execution (continue-as-new). */
  resumed?: ResumedRun;
}

export interface ResumedRun {
  planner: PlannerSnapshot;
  /** Where each agent goes on, by node number. */
  agents: [node: number, cursor: AgentCursor][];
  decisions: [requestId: string, isApproved: boolean][];
}

/** All that an agent needs to go on after any interruption. */
export interface AgentCursor {
  turn: number;
  /** The approvals that this turn's tool calls wait for. */
  requests: string[];
  /** When they expire, in the workflow's time. */
  deadlineMs: number;
}

/** The signal `decide`: an approver has answered. Postgres has the decision; this wakes the run. */
export const DECIDE_SIGNAL = 'decide';

export interface Decision {
  requestId: string;
  isApproved: boolean;
}

/** Plain JSON; positions are node numbers of the plan. */
export interface PlannerSnapshot {
  /** One character a node: see `NodeState`. */
  states: string;
  unsettled: number[];
  live: number[];
  queue: number[];
}

/** The query `status`: where the run is now. Results and everything final are in Postgres. */
export const STATUS_QUERY = 'status';

export interface RunStatusAnswer {
  phase: 'running' | 'draining' | 'failing' | 'cancelling' | 'finishing';
  /**
   * One character a node in the plan's order, for operators: `0` waiting, `1` ready, `2` running, `3` succeeded,
   * `4` failed, `5` skipped, `6` cancelled.
   */
  states: string;
  /** Nodes that have begun and have not ended. */
  live: LiveNode[];
}

export interface LiveNode {
  id: string;
  /** Empty for a node of the drawing itself. */
  path: string;
  /** Absent while the node runs. */
  waiting?: {
    for: 'approval';
    /** Milliseconds since the epoch. */
    untilMs: number;
  };
}

/** The Temporal UI shows summaries and details as Markdown: what users wrote is words in them, never a link or markup. */
export function toMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>!#|~&]/g, '\\$&');
}
