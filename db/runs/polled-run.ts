// What a poll finds of a run.
import type { NodeStatus, Role, StoredRunStatus } from '../core/tables.js';
import type { IterationCounts } from './iteration-counts.js';
import type { StoredWait } from './stored-wait.js';

export interface PolledState {
  runId: string;
  status: StoredRunStatus;
  isStarted: boolean;
  /** The time since one of its nodes began or ended, or since it was accepted. */
  quietMs: number;
  /** Its results are gone, or as good as gone: it ended long ago and nothing pins it. */
  isExpired: boolean;
  isVisible: boolean;
  /** The reader's role in the run's project; null where the run is not visible. */
  role: Role | null;
  version: number;
  /** The value of `toStateTag`. */
  stateTag: string;
  /** JSON text; only for `Draft`. */
  nodeErrors: string | null;
}

/** The output of the run's first output node. */
interface PolledOutput {
  /** JSON text of the value; null where it is too large to be read with the run (`readOutputPieces`). */
  text: string | null;
}

export interface PolledRun extends PolledState {
  /** Undefined while no output node has ended. */
  output: PolledOutput | undefined;
  nodes: PolledNode[];
  /** The run is in a state that the reader knows: its output, and of its nodes everything but id and status, is left out. */
  isUnchanged: boolean;
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
  /** The node failed, and the run survives it. */
  isHandled: boolean;
  /** Nothing was executed for the result. */
  isReused: boolean;
  /** What a test has taken it from: `mock`, `pin`, or the id of a run. */
  source: string | null;
  /** The pin was made of another drawing. */
  isStale: boolean;
  /** The text that JSON writes for a Date. */
  startedAt: string;
  finishedAt: string | null;
  /** The requests that a waiting agent has open. */
  approvals?: OpenRequest[] | null;
  /** What a waiting node waits for. */
  waiting?: StoredWait | null;
  /** How far a loop is. */
  iterations?: IterationCounts | null;
}

/** The columns that tell of a node in the rows of polls and of events; all null where there is no node. */
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

export interface OpenRequest extends Record<string, unknown> {
  /** The text that JSON writes for a Date. */
  expires_at: string;
}
