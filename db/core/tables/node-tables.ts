// What the nodes of a run put out, which calls they made, and what that cost.
import type { Generated } from 'kysely';
import type { Decimal, Json } from './column-types.js';

export type NodeStatus = 'in progress' | 'succeed' | 'failed';
export type TransactionStatus = 'Succeeded' | 'Error';

/**
 * Writer: the worker's activities, and the acceptance of a run that takes over results; the end of a run closes what is
 * still open; retention empties what has expired.
 */
export interface NodeResultsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  status: NodeStatus;
  /** Which links are taken: 0 the ordinary ones, else those of the kind's named handle of this number (`Handle`). */
  handle: Generated<number>;
  /** Further handles by which the node was left; null where there are none. */
  also_handles: number[] | null;
  /** The number of attempts that have begun; the attempt of a worker that died counts. */
  attempts: Generated<number>;
  /** Those attempts of the step that count nothing: their worker died, or has handed them back when it was stopped. */
  spared: Generated<number>;
  /** The worker process that executes the node. */
  worker: string | null;
  /** Tells whether a node whose workers died waits for its turn, or runs. Null for other nodes. */
  isolation: 'waits' | 'runs' | null;
  /** When the last attempt began; null while there is only the first one, which began with the node. */
  attempt_started_at: Date | null;
  /** Which step of an agent was claimed last (`NodeStep.name`); null for nodes that take one activity. */
  step: string | null;
  /** From when the node was ready to its first attempt; null for a node that never waits in a queue. */
  queued_ms: number | null;
  /** `{content, ...}` as it leaves the service (secrets masked). */
  result: Json<Record<string, unknown>> | null;
  /** The size of `result` as JSON text; null where there was never one. */
  result_bytes: number | null;
  /** The unmasked result, sealed; null when masking changed nothing. */
  result_enc: Buffer | null;
  error_code: string | null;
  error_message: string | null;
  /** Whether the run survives the failure of the node. */
  is_handled: Generated<boolean>;
  /** The number of iterations of a loop, 0 where that is not known before; null for other nodes. */
  iterations: number | null;
  /** Whether the row is an iteration: `path` is its own, and `node_id` that of its loop. */
  is_iteration: Generated<boolean>;
  /** Whether the row was taken from an earlier run, a mock or a pin: nothing was executed for it. */
  is_reused: Generated<boolean>;
  /** What a test run has taken the row from: `mock`, `pin`, or the id of a run. */
  source: string | null;
  /** Whether the pin was made of another drawing. */
  is_stale: Generated<boolean>;
  started_at: Generated<Date>;
  finished_at: Date | null;
}

/**
 * Writer: a trigger of `node_results`, whenever an iteration begins or ends, and the acceptance of a run that takes over
 * results. The rows of a loop add up to how far it is, and are replaced by their sum now and then.
 */
export interface LoopProgressTable {
  run_id: string;
  /** The iteration that encloses the loop (`NodeKey`); empty outside loops. */
  path: string;
  /** The id of the loop. */
  node_id: string;
  /** What the paths of its iterations begin with. */
  prefix: string;
  /** Indexes of iterations, as the text of a multirange. */
  begun: string;
  ended: string;
  /** How many of those that have ended have failed. */
  failed: number;
  /** How much has happened in the iterations that have ended, for the version of the run. */
  changes: number;
}

/**
 * Writer: the worker's activities, when a loop begins, and the acceptance of a run that takes over results. Retention
 * deletes what has expired. The items of a list.
 */
export interface LoopItemsTable {
  run_id: string;
  /** The iteration that encloses the loop (`NodeKey`); empty outside loops. */
  path: string;
  /** The id of the loop. */
  node_id: string;
  /** From 0. */
  index: number;
  /** The item as JSON text, sealed. */
  item_enc: Buffer;
}

/**
 * Writer: the worker's activities, and the trigger of `node_results` for attempts whose worker was lost. Attempts that
 * ended without ending their node; the last attempt is the row of the node itself. Retention deletes what has expired.
 */
export interface NodeAttemptsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  /** Counts from 1. */
  number: number;
  started_at: Date;
  /** The end of an attempt whose worker was lost is the moment at which the next attempt found it. */
  finished_at: Date;
  error_code: string;
  error_message: string | null;
  /** The step of the node, as its own row says. */
  step: string | null;
  /** The worker process that died during the attempt; null where the attempt has ended in another way. */
  worker: string | null;
  /** Whether the node ran apart from others (`isolation`). */
  was_isolated: Generated<boolean>;
}

/** Writer: the worker's activities. A call that is paid or must not repeat is claimed here before it leaves. */
export interface ProviderCallsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  turn: Generated<number>;
  /** The negative number of the attempt, for a model call that was cut off (`chargedCalls`). */
  ordinal: Generated<number>;
  /**
   * `sent`: on the wire, outcome unknown. `applied`: outcome recorded. `refused`: it did nothing or has a row `cut`, and may be
   * made again. `cut`: a model call was sent and cut off, and its price is estimated.
   */
  state: 'sent' | 'applied' | 'refused' | 'cut';
  /** How often the call was claimed. The last attempt owns it. */
  attempts: Generated<number>;
  /** How often a worker died with this call in flight: each may have been paid for twice. The user pays once. */
  crashes: Generated<number>;
  provider: string | null;
  model: string | null;
  /** What the provider counted, in its own words; retention empties it. */
  usage: Json<unknown> | null;
  /** The reported tokens, or else estimated ones; for a call on the wire, the reserved ones. Null where nothing is known. */
  input_tokens: number | null;
  output_tokens: number | null;
  price_usd: Decimal | null;
  /** Nobody has reported the tokens of the call. */
  is_estimated: Generated<boolean>;
  /** The project of a model call that is paid for. */
  project_id: number | null;
  /**
   * What the call may cost while it is on the wire, then what it has cost, for the limits of money (ADR 20). Null once that is
   * in the node's transaction, and for what costs nothing.
   */
  reserved_usd: Decimal | null;
  sent_at: Generated<Date>;
  replied_at: Date | null;
}

/**
 * Writer: the worker's activities, one row an executed node; the end of a run adds what a dead worker could not; the API, one
 * row a call of the chat proxy, under the call's id.
 */
export interface BillingTransactionsTable {
  id: Generated<string>;
  /** Null for a call of the chat proxy. */
  run_id: string | null;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  /** Null for a call of the chat proxy that belongs to no project. */
  project_id: number | null;
  user_id: number;
  /** The node kind's word, `marketplace_fee`, or `chat`. */
  operation: string;
  status: TransactionStatus;
  amount_usd: Decimal;
  /** Nobody has reported the tokens; they were reckoned from the number of characters. */
  is_estimated: Generated<boolean>;
  /** Which price list gave the amount; empty for what is free. */
  price_version: Generated<string>;
  reason: Generated<string>;
  description: Generated<string>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}
