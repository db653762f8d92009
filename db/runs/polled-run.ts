// The shapes of a polled run.
import type { NodeStatus, Role, StoredRunStatus } from '../core/tables.js';
import type { Version } from '../watches/run-version.js';
import type { IterationCounts } from './iteration-counts.js';
import type { StoredWait } from './stored-wait.js';

export interface PolledState extends Version {
  runId: string;
  status: StoredRunStatus;
  isStarted: boolean;
  /** Milliseconds since the last start or end of a node, or since the run was accepted if that is later. */
  quietMs: number;
  /** True if the results of the run have expired, even if retention has not deleted them yet. */
  isExpired: boolean;
  isVisible: boolean;
  /** The reader's role in the run's project; null if the run is not visible. */
  role: Role | null;
  /** JSON text; only for `Draft`. */
  nodeErrors: string | null;
}

interface PolledOutput {
  /** JSON text; null if it is too large to be read with the run (`readOutputPieces` reads it). */
  text: string | null;
}

export interface PolledRun extends PolledState {
  /** Undefined while no output node has succeeded, and for a run that is not visible or has expired. */
  output: PolledOutput | undefined;
  nodes: PolledNode[];
}

export interface PolledNode {
  id: string;
  status: NodeStatus;
  /** JSON text; null for a node without a result, and for one with `apartBytes`. */
  result: string | null;
  /**
   * The size of a result that is left out, so that one read does not take too much memory (`readResultPieces` and
   * `readResults` read the result).
   */
  apartBytes?: number | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** True if the node failed and the run survives the failure. */
  isHandled: boolean;
  /** True if the result comes from an earlier run, a mock or a pin. */
  isReused: boolean;
  /** The origin of a result in a test: `mock`, `pin`, or the id of a run. */
  source: string | null;
  /** True if the node of the pin, or something before it, has changed since the pin was made. */
  isStale: boolean;
  /** ISO 8601, as JSON writes a Date. */
  startedAt: string;
  finishedAt: string | null;
  approvals?: PolledApproval[] | null;
  waiting?: StoredWait | null;
  iterations?: IterationCounts | null;
}

/** The columns of a node in the rows of polls and events; nullable, because a row may have no node. */
export interface NodeColumns {
  nodeStatus: NodeStatus | null;
  result: string | null;
  apartBytes: number | null;
  errorCode: string | null;
  errorMessage: string | null;
  isHandled: boolean | null;
  isReused: boolean | null;
  source: string | null;
  isStale: boolean | null;
  startedAt: string | null;
  finishedAt: string | null;
  waiting: StoredWait | null;
  iterations: IterationCounts | null;
}

export function toPolledNode(id: string, row: NodeColumns): PolledNode {
  return {
    id,
    status: row.nodeStatus ?? 'failed',
    result: row.result,
    apartBytes: row.apartBytes,
    errorCode: row.errorCode,
    errorMessage: row.errorMessage,
    isHandled: row.isHandled ?? false,
    isReused: row.isReused ?? false,
    source: row.source,
    isStale: row.isStale ?? false,
    startedAt: row.startedAt ?? '',
    finishedAt: row.finishedAt,
    waiting: row.waiting,
    iterations: row.iterations,
  };
}

export interface PolledApproval extends Record<string, unknown> {
  /** ISO 8601, as JSON writes a Date. */
  expires_at: string;
}
