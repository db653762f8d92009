// Who watches runs, and the order of what they see.
import type { Generated } from 'kysely';

/** Writer: the API processes, each its own rows, under the id that it makes at its start. Rows that nobody renews are void. */
export interface RunWatchesTable {
  run_id: string;
  listener: string;
  until: Date;
  /** Whether it also wants the deltas of the run. */
  deltas: Generated<boolean>;
}

/**
 * Writer: the workers, while a model writes and somebody reads. The node's end deletes its rows; retention deletes what
 * crashes have left.
 */
export interface RunDeltasTable {
  run_id: string;
  path: string;
  node_id: string;
  /** As `node_results.attempts` counts. */
  attempt: number;
  /** The number of the model call of the node, from 0. */
  step: number;
  /** The place among the rows of the step, from 0. */
  number: number;
  /** JSON text of a `DeltaBody`; secrets masked. */
  body: string;
  created_at: Generated<Date>;
}

/** Writer: `order_run_events`. A row says which iterations of a loop have ended and have all their events in `run_events`. */
export interface ToldIterationsTable {
  run_id: string;
  path: string;
  node_id: string;
  /** Indexes, as the text of a multirange. */
  told: string;
}

/** Writer: `order_run_events`, called by API processes for runs that somebody follows. Append only. */
export interface RunEventsTable {
  run_id: string;
  version: number;
  kind: 'run' | 'node' | 'approval' | 'human_task';
  path: string;
  /** The node's id or that of the request or the task; empty for the run. */
  subject: string;
  /** What it became: the stored status of the run, the node, the request or the task. */
  status: string;
  /** For a pending request or task, how many decisions or answers had been counted. */
  counted: Generated<number>;
}
