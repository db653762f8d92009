// The evidence of a row of the matrix (one fault, applied while runs are in flight). invariants.ts checks it without
// knowing how it was collected.
import type { NodeEntry } from '../harness/client/api-client.js';
import type { FailedRequest } from '../harness/client/retrying.js';
import type { NodeKind as Kind } from '../graph/kinds.js';

/** A call of a node to an outside system. */
export interface ExpectedCall {
  /** Unique among all calls of all runs. */
  key: string;
  /** False for a call that must not be repeated: a POST or a tool call. */
  mayRepeat: boolean;
  /** The step of an agent that makes the call. Other nodes have only one step. */
  step?: string;
}

/** A node that is executed if its run succeeds. */
export interface ExpectedNode {
  id: string;
  /** The iteration in which the node is executed; absent outside the bodies of loops. */
  path?: string;
  label: string;
  kind: Kind;
  /** The cost of the node if it succeeds. */
  amountUsd: string;
  calls: ExpectedCall[];
  /** A text that the node's result must contain: mostly the run's tag, which excludes the result of another run. */
  marker: string;
  /** The number of iterations of a loop. */
  iterations?: number;
  /** For a node that waits for an answer: reads the answer from the node's result. */
  answerOf?: (result: AnsweredResult) => string | undefined;
  /** The nodes of the run that a sub-workflow starts. */
  child?: ExpectedNode[];
}

/** The fields of a result that contain the answer to a wait. */
export interface AnsweredResult {
  content?: string;
  comment?: string;
}

/** Returns a key that is unique for each node and iteration within a run. */
export function placeOf({ path = '', nodeId }: { path?: string | undefined; nodeId: string }): string {
  return `${path}/${nodeId}`;
}

export interface Poll {
  at: number;
  status: string;
  nodes: Record<string, NodeEntry>;
}

/** An answer that a client has sent to a waiting node. */
export interface GivenAnswer {
  nodeId: string;
  /** Unique among the answers to the node. */
  text: string;
  /** `lost`: the client does not know if the answer was accepted. */
  outcome: 'accepted' | 'refused' | 'lost';
}

/** How a run must end. `succeed` permits `outcome_unknown` if a hit cut a call that must not be repeated. */
export type Ending = 'succeed' | 'outcome unknown' | 'Cancelled' | 'Error';

export interface RunEvidence {
  /** The client's name for the run: the idempotency key, and a part of the key of every call of the run. */
  tag: string;
  shape: string;
  ending: Ending;
  expected: ExpectedNode[];
  /** Undefined if no response confirmed that the run was accepted. */
  runId: string | undefined;
  /** The statuses that polls showed, in order. Equal ones in a row are listed once. */
  statuses: string[];
  firstTerminal: Poll | undefined;
  /** The polls after `firstTerminal`. */
  later: Poll[];
  failures: FailedRequest[];
  answers: GivenAnswer[];
  stored: StoredRun | undefined;
  /** The stored data of the runs that its nodes have started. */
  children: StoredChild[];
}

/** The data of a run in the database and the API at the end of the row. */
export interface StoredRun {
  status: string;
  errorCode: string | null;
  costUsd: string;
  /** The cost that `GET .../history/{run}/` returns. */
  shownCostUsd: string;
  nodes: StoredNode[];
  /** Iterations of loops; `nodeId` is the loop's id. */
  iterations: { path?: string; nodeId: string; status: string }[];
  transactions: { path?: string; nodeId: string; operation: string; status: string; amountUsd: string }[];
  /** The ledger's claims for calls that cost money or must not be repeated. */
  claims: { path?: string; nodeId: string; sentAt: number }[];
}

export interface StoredNode {
  /** The iteration. Absent or empty outside the bodies of loops. */
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

/** One act of a fault against parts of the service, from just before it until these parts work again. */
export interface HitRecord {
  what: string;
  from: number;
  until: number;
  /** `calls`: cuts calls in flight; `claims`: cuts only the answers to claims, whose calls are then never made. */
  cuts: 'calls' | 'claims' | 'nothing';
  /** True if the API may refuse or fail requests meanwhile. */
  apiDown: boolean;
  /** The nodes and steps of agents that were recorded as finished before the hit. `step` is null for a whole node. */
  finished: { runId: string; path?: string; nodeId: string; step: string | null }[];
  /** The number of calls by key, counted after `finished` was read. */
  calls: Record<string, number>;
}

export interface Evidence {
  runs: RunEvidence[];
  hits: HitRecord[];
  /** The final number of calls by key. */
  calls: Record<string, number>;
  project: {
    /** The number of rows in `runs` that were not started by a node. */
    runs: number;
    /** The project's `total_spent` in the API before the first run and after the last one. */
    spentBeforeUsd: string;
    spentAfterUsd: string;
  };
  /** The errors that were found while the row was played: by the fault, the stage or a client. */
  complaints: string[];
}
