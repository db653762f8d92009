// A run's life is reported in these words.
import type { WaitKey } from '../waits/wait-key.js';
import type { StoredRunStatus, WebhookEventType } from '../core/tables.js';

export interface ExecutionError {
  code: string;
  message: string;
  node_id?: string | undefined;
}

export interface ExecutionUpdate {
  /** Applied only when higher than the last one applied. */
  sequence: number;
  status: 'in progress' | 'succeed' | 'failed' | 'cancelled';
  /** ISO 8601; the database's clock when absent. */
  finished_at?: string | undefined;
  /** Nodes that no activity could close, because it timed out or never ran to its end. */
  nodes?: Record<string, { status: 'failed'; error: { code: string; message: string } }> | undefined;
  error?: ExecutionError | null | undefined;
}

export interface UpdateOutcome {
  applied: boolean;
  runStatus: StoredRunStatus | null;
  /** Why nothing was applied. `stale`: a repeat or an older update. */
  reason?: 'unknown_run' | 'already_terminal' | 'stale';
  /** The node of another run that waited for the end of this one. */
  awaitedBy?: WaitKey;
}

export const STORED: Record<Exclude<ExecutionUpdate['status'], 'in progress'>, StoredRunStatus> = {
  succeed: 'Succeeded',
  failed: 'Error',
  cancelled: 'Cancelled',
};

export const EVENTS: Record<Exclude<ExecutionUpdate['status'], 'in progress'>, WebhookEventType> = {
  succeed: 'workflow_run.succeeded',
  failed: 'workflow_run.failed',
  cancelled: 'workflow_run.cancelled',
};

/** The sequence numbers of the updates that the worker writes itself. */
export const START_SEQUENCE = 1;
export const FINISH_SEQUENCE = 2;
