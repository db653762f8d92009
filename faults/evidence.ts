// What a row of the matrix leaves behind, as plain data: invariants.ts judges it without knowing how it came about.
import type { NodeEntry } from '../harness/client/api-client.js';
import type { FailedRequest } from '../harness/client/retrying.js';
import type { NodeKind as Kind } from '../graph/kinds.js';

/** A call that a node makes at the world outside. */
export interface ExpectedCall {
  /** Tells it from every other call of every run. */
  key: string;
  /** False for what must not happen twice: a POST, a tool call. */
  mayRepeat: boolean;
  /** The step of an agent that the call belongs to. Other nodes are one step. */
  step?: string;
}

/** A node that runs when its run succeeds. */
export interface ExpectedNode {
  id: string;
  /** The iteration that it is executed in; absent outside bodies. */
  path?: string;
  label: string;
  kind: Kind;
  /** What it costs when it succeeds. */
  amountUsd: string;
  calls: ExpectedCall[];
  /** Stands in its result, so that no run can show another one's. */
  marker: string;
  /** The number of iterations of a loop. */
  iterations?: number;
  /** The answer that a node which waits for one has got, by its result. */
  answerOf?: (result: AnsweredResult) => string | undefined;
  /** The nodes of the run that a sub-workflow starts. */
  child?: ExpectedNode[];
}

/** The fields of a result that say how a wait was answered. */
export interface AnsweredResult {
  content?: string;
  comment?: string;
}

/** Tells the executions of a node apart. */
export function placeOf({ path = '', nodeId }: { path?: string | undefined; nodeId: string }): string {
  return `${path}/${nodeId}`;
}

export interface Poll {
  at: number;
  status: string;
  nodes: Record<string, NodeEntry>;
}

/** An answer that a client has given to a node that waits for one. */
export interface GivenAnswer {
  nodeId: string;
  /** Another one each time. */
  text: string;
  /** `lost`: what became of it is not known. */
  outcome: 'accepted' | 'refused' | 'lost';
}

/** How a run must end. `succeed` admits `outcome_unknown` where a call that must not repeat was in flight at a hit. */
export type Ending = 'succeed' | 'outcome unknown' | 'Cancelled' | 'Error';

export interface RunEvidence {
  /** The client's own name for the run: its idempotency key and a part of everything that the run calls. */
  tag: string;
  shape: string;
  ending: Ending;
  expected: ExpectedNode[];
  /** Undefined when no answer said that the run was accepted. */
  runId: string | undefined;
  /** The statuses that polls showed, in their order, repetitions left out. */
  statuses: string[];
  firstTerminal: Poll | undefined;
  /** Polls after that. */
  later: Poll[];
  failures: FailedRequest[];
  answers: GivenAnswer[];
  stored: StoredRun | undefined;
  /** What the database says about the runs that its nodes have started. */
  children: StoredChild[];
}

/** What the database and the API say about a run in the end. */
export interface StoredRun {
  status: string;
  errorCode: string | null;
  costUsd: string;
  /** By `GET .../history/{run}/`. */
  shownCostUsd: string;
  nodes: StoredNode[];
  /** Iterations of loops; `nodeId` is that of the loop. */
  iterations: { path?: string; nodeId: string; status: string }[];
  transactions: { path?: string; nodeId: string; operation: string; status: string; amountUsd: string }[];
  /** The ledger's claims of calls that are paid for or must not repeat. */
  claims: { path?: string; nodeId: string; sentAt: number }[];
}

export interface StoredNode {
  /** Absent, or empty, outside bodies. */
  path?: string;
  nodeId: string;
  status: string;
  errorCode: string | null;
  finishedAt: number | null;
  /** JSON text of its result. */
  result?: string | null;
}

/** A run that a node of another run has started. */
export interface StoredChild extends StoredRun {
  runId: string;
  parentPath: string;
  parentNodeId: string;
}

/** One blow of a fault, from the moment before it until what it struck works again. */
export interface Hit {
  what: string;
  from: number;
  until: number;
  /** `calls` that are in flight; or only the answers to `claims` of calls, which then are never made. */
  cuts: 'calls' | 'claims' | 'nothing';
  /** Whether the API may refuse or fail requests meanwhile. */
  apiDown: boolean;
  /** What was recorded as finished before it: a whole node, or the step of an agent. */
  finished: { runId: string; path?: string; nodeId: string; step: string | null }[];
  /** Calls by key, counted after `finished` was read. */
  calls: Record<string, number>;
}

export interface Evidence {
  runs: RunEvidence[];
  hits: Hit[];
  /** Calls by key in the end. */
  calls: Record<string, number>;
  project: {
    /** Rows in `runs`, whoever made them. */
    runs: number;
    /** `total_spent` of the project before the first and after the last run, as the API shows it. */
    spentBeforeUsd: string;
    spentAfterUsd: string;
  };
  /** What the fault itself found wrong. */
  complaints: string[];
}
