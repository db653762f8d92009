// The durable steps of agents, and approvals. Retention deletes what has expired from all of them.
import type { Generated } from 'kysely';
import type { Role } from './account-tables.js';
import type { Decimal, Json } from './column-types.js';

/** Writer: the worker's activities. The tools of an agent, fixed at its first turn. */
export interface AgentSessionsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  /** Sealed JSON of `AgentTool[]` (db/agents/agent-tools.ts). */
  tools_enc: Buffer;
  /** The `max_cost` of the agent; null: no limit. The runs that its tools start read it. */
  max_cost_usd: Decimal | null;
  created_at: Generated<Date>;
}

/** Writer: the worker's activities. What the model said in each turn. */
export interface AgentTurnsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  turn: number;
  is_final: boolean;
  /** Sealed JSON of the assistant message. */
  message_enc: Buffer;
  usage: Json<unknown> | null;
  created_at: Generated<Date>;
}

/** Writer: the worker's activities. Every tool call that a model asked for, and its answer once there is one. */
export interface AgentToolCallsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  turn: number;
  ordinal: number;
  /** The provider's id of the call. */
  tool_call_id: string;
  /** Null for a tool that does not exist. */
  server_label: string | null;
  tool_name: string;
  /** Sealed text, exactly as the model wrote it. */
  arguments_enc: Buffer;
  request_id: string | null;
  outcome: ToolOutcome | null;
  /** Sealed text of what the model gets as the answer. */
  answer_enc: Buffer | null;
  finished_at: Date | null;
}

/**
 * Writers: the worker's activities and the API, after a listing. The tools of an agent's server that the agent cannot be
 * offered. Rows of earlier versions and of archived workflows are deleted.
 */
export interface RefusedToolsTable {
  workflow_id: number;
  version: number;
  node_id: string;
  server_label: string;
  /** A list of `RefusedTool` (db/agents/refused-tools-repository.ts). */
  tools: Json<unknown>;
}

export type ToolOutcome = 'result' | 'tool_error' | 'rejected' | 'expired' | 'invalid';
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

/** Writers: the worker inserts and expires; the API decides (under the lock of the row: whoever comes first). */
export interface ApprovalRequestsTable {
  request_id: string;
  run_id: string;
  /** A copy of the run's. */
  project_id: number;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: string;
  node_id: string;
  /** The label as drawn when the run was accepted, at most 60 characters. */
  node_label: Generated<string>;
  turn: number;
  ordinal: number;
  server_label: string;
  tool_name: string;
  /** The arguments that the model gave, as they are shown: secrets masked. */
  arguments: Json<unknown>;
  /** The hash of the arguments that would be sent (`db/agents/arguments-hash.ts`). */
  arguments_hash: Generated<string>;
  /** The arguments that a person has put in their place, as they are shown. */
  edited_arguments: Json<unknown> | null;
  /** The edited arguments as they are sent: sealed JSON text. */
  edited_enc: Buffer | null;
  /** The number of people who must approve. */
  required: Generated<number>;
  /** True if the person who started the run may not decide. */
  exclude_starter: Generated<boolean>;
  /** The only one who may see it in the inbox and decide, of a test; null for other runs. */
  only_user: number | null;
  /** The people who may decide; null for everybody who may draw. */
  roles: Role[] | null;
  /** Decisions that were counted and have not settled the request. */
  counted: Generated<number>;
  status: Generated<ApprovalStatus>;
  /** The reason of the decision that has settled it, as are `decided_by` and `decided_at`. */
  reason: Generated<string>;
  decided_by: number | null;
  decided_at: Date | null;
  /** The time when the run workflow took the signal. The signal is delivered again while it is null. */
  signalled_at: Date | null;
  /** The number of further signals of the API, and the time of the next attempt; null for at once. */
  signal_attempts: Generated<number>;
  next_signal_at: Date | null;
  created_at: Generated<Date>;
  expires_at: Date;
}

/** Writer: the API. Who has decided what on a request, append only. */
export interface ApprovalDecisionsTable {
  request_id: string;
  user_id: number;
  decision: 'approved' | 'rejected';
  /** The hash of the arguments that were decided on. */
  arguments_hash: string;
  reason: Generated<string>;
  decided_at: Generated<Date>;
}
