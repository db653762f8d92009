// What a poll finds of a run.
import type { NodeStatus, Role, StoredRunStatus } from '../core/tables.js';
import type { IterationCounts } from './iterations-text.js';
import type { StoredWait } from './waiting-text.js';

export interface PolledState {
  runId: string;
  status: StoredRunStatus;
  isStarted: boolean;
  /** The time since one of its nodes began or ended, or since it was accepted. */
  quietMs: number;
  /** Its results are gone, or as good as gone: it ended long ago and nothing pins it. */
  isExpired: boolean;
  isVisible: boolean;
  /** Of the reader in the run's project; null where it is not visible. */
  role: Role | null;
  version: number;
  /** As in `toStateTag`. */
  stateTag: string;
  /** JSON text; only for `Draft`. */
  nodeErrors: string | null;
}

/** Of the run's first output node. */
export interface PolledOutput {
  /** JSON text of the value; null where it is too large to be read with the run (`readOutputPieces`). */
  text: string | null;
}

export interface PolledRun extends PolledState {
  /** Undefined while no output node has ended. */
  output: PolledOutput | undefined;
  nodes: PolledNode[];
}

/** One row, ready to be passed on: most polls of most runs. */
export interface PolledText extends PolledState {
  /**
   * JSON text of the nodes by their ids, each as `toNodeMap` (api/runs/node-map.ts) writes it; null: read them apart. That
   * of an open run is for `splitNodes`.
   */
  nodes: string | null;
  /** It is in the state that the caller knows. Then `nodes` is the JSON array of their ids, and the request is not counted. */
  isUnchanged: boolean;
  /** As in `PolledRun`; not read where it is unchanged. */
  output: PolledOutput | undefined;
}

export interface PolledNode {
  id: string;
  status: NodeStatus;
  /** JSON text, passed on as it is: a result of several megabytes is never parsed here. */
  result: string | null;
  /** How large the result is where that is too large to be read with all others; `readResultPieces` has it. */
  apartBytes?: number | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** Of a failed node: the run survives it. */
  isHandled: boolean;
  /** The result is that of an earlier run. */
  isReused: boolean;
  /** As JSON writes a Date. */
  startedAt: string;
  finishedAt: string | null;
  /** The requests that a waiting agent has open. */
  approvals?: OpenRequest[] | null;
  /** What a waiting node waits for. */
  waiting?: StoredWait | null;
  /** How far a loop is. */
  iterations?: IterationCounts | null;
}

export interface OpenRequest extends Record<string, unknown> {
  /** As JSON writes a Date. */
  expires_at: string;
}
