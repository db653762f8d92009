// Runs, and the keys of repeated run starts.
import type { ColumnType, Generated } from 'kysely';
import type { Json, Timestamp } from './column-types.js';

export type StoredRunStatus = 'In Progress' | 'Succeeded' | 'Cancelled' | 'Error' | 'Draft';

/**
 * Writer: acceptance (insert), flags, `startRun` and `endRun` (db/runs/run-life.ts), the reconciler (when to look next) and
 * retention (what of it is gone); `cost_usd` by the billing trigger.
 */
export interface RunsTable {
  id: string;
  workflow_id: number;
  project_id: number;
  user_id: number;
  status: StoredRunStatus;
  snapshot_hash: Buffer;
  purpose: Generated<'run' | 'test'>;
  /** The version of the drawing that it was accepted with; null for the test of a drawing that is not stored. */
  workflow_version: ColumnType<number | null, number | null | undefined, number | null>;
  /** The input as it leaves the service (secrets masked), defaults filled in. */
  input: Json<Record<string, unknown>>;
  /** The whole unmasked input, sealed; null when masking changed nothing. */
  input_enc: Buffer | null;
  /** The document's sealed secrets at acceptance (credential headers and the like). */
  secrets_enc: Buffer | null;
  /** The number of the last report that was applied (db/runs/run-life.ts). */
  sequence: Generated<number>;
  cost_usd: ColumnType<string, never, never>;
  error_code: string | null;
  error_message: string | null;
  /** The errors of a `Draft`: node id -> [{path: message}]. */
  node_errors: Json<Record<string, Record<string, string>[]>> | null;
  is_api_run: Generated<boolean>;
  use_in_marketplace_example: Generated<boolean>;
  use_as_marketplace_template: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Timestamp;
  run_started_at: Date | null;
  run_finished_at: Date | null;
  cancel_requested_at: Date | null;
  /** The time when the reconciler looks at the run next; null once it is terminal. */
  next_check_at: Date | null;
  check_attempts: Generated<number>;
  /** The time since which its workflow task fails again and again; null if the last check found it well. */
  stuck_since: Date | null;
  /** The contents of the run count as gone from this time on, and no flag brings them back. */
  results_expired_at: Date | null;
  /** Expired, and some of its contents are still to be deleted. */
  is_purge_pending: Generated<boolean>;
  /** The unmasked input has expired, and `input` lacks what was masked in it. */
  is_input_lost: Generated<boolean>;
  /**
   * Secrets of other runs that this one must mask, too, as a sealed list: of the run that started it with its input, and
   * of the runs that its nodes started. Null where there are none.
   */
  passed_secrets_enc: Buffer | null;
  /** The node that started the run of a sub-workflow; null for other runs. */
  parent_run_id: string | null;
  parent_path: string | null;
  parent_node_id: string | null;
  /** The run that no other one has started, and below which this one is; null for itself. */
  root_run_id: string | null;
  /** The number of runs above it. */
  depth: Generated<number>;
  /** The earlier run whose results it began with; null for the others. */
  resumed_from: Generated<string | null>;
  /** The conversation in which it answers a message. */
  conversation_id: Generated<string | null>;
  /** True until its turn in the conversation has come. */
  is_queued: Generated<boolean>;
  /** W3C trace context of the request that it was accepted in; null while nothing is traced. */
  traceparent: Generated<string | null>;
}

/**
 * Writer: the worker's activities, with the end of the output node, and the acceptance of a run that takes over results.
 * Retention deletes what has expired. A row says which
 * node gave the run its output, and never changes.
 */
export interface RunOutputsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  /** The position of the value in the text of the node's result (`valueStartOf`). */
  value_start: number;
}

/**
 * Writer: the acceptance of MCP calls, in one transaction with the run; retention deletes the row with the run's results.
 * A row is a run that was begun as a task.
 */
export interface ToolTasksTable {
  user_id: number;
  created_at: Generated<Date>;
  run_id: string;
}

/** Writer: run acceptance in the API, in one transaction with the run. A row counts for 24 hours. */
export interface IdempotencyKeysTable {
  user_id: number;
  key: string;
  /** The request that had the key, hashed and sealed: a plain hash would let a short secret be guessed. */
  request_enc: Buffer;
  /** Null if the key was withdrawn; no request with it starts a run then. */
  run_id: string | null;
  created_at: Generated<Date>;
}
