// One interface a table. The writer of each table is named beside it: no other code may change it.
import type { ColumnType, Generated, Insertable, Selectable } from 'kysely';

type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
/** An exact decimal: the driver gives and takes `numeric` as text. */
type Decimal = ColumnType<string, string | undefined, string>;
/** A `json` column: parsed by the driver on the way out, JSON text on the way in. */
type Json<T> = ColumnType<T, string, string>;

export type Role = 'owner' | 'admin' | 'editor' | 'viewer';
export type StoredRunStatus = 'In Progress' | 'Succeeded' | 'Cancelled' | 'Error' | 'Draft';
export type NodeStatus = 'in progress' | 'succeed' | 'failed';
export type TransactionStatus = 'Succeeded' | 'Error';
export type WebhookEventType =
  | 'workflow_run.started'
  | 'workflow_run.succeeded'
  | 'workflow_run.failed'
  | 'workflow_run.cancelled'
  | 'agent_approval.requested';
/** `failed`: given up after the last attempt. `dropped`: the webhook was switched off, unset or deleted first. */
export type WebhookDeliveryStatus = 'pending' | 'delivered' | 'failed' | 'dropped';

/** Writer: `admin` (and the embedded stack's first start). */
export interface UsersTable {
  id: Generated<number>;
  name: string;
  api_access: Generated<boolean>;
  created_at: Generated<Date>;
}

/** Writer: `admin`. The key itself is never stored: `key_hash` is its SHA-256. */
export interface ApiKeysTable {
  id: Generated<number>;
  user_id: number;
  label: Generated<string>;
  key_hash: Buffer;
  /** The last four characters, to tell keys apart in a list. */
  key_hint: string;
  /** Requests a minute; null means DEFAULT_RATE_LIMIT. */
  rate_limit: number | null;
  created_at: Generated<Date>;
}

/** Writer: the API, with every request that carries a key. A key without a row has made no request of late. */
export interface RateLimitsTable {
  key_id: number;
  window_ends_at: Date;
  /** Those that were refused count too. */
  requests: number;
}

/** Writer: the API. `total_spent_usd` is kept by a trigger on `billing_transactions`. */
export interface ProjectsTable {
  id: Generated<number>;
  name: string;
  webhook_url: Generated<string>;
  is_webhook_enabled: Generated<boolean>;
  /** Sealed; made when the webhook is first switched on, replaced by the webhook-secret endpoint. */
  webhook_secret_enc: Buffer | null;
  /** When the secret was shown; null for one that nobody has seen. */
  webhook_secret_shown_at: Date | null;
  /** Sealed; signs beside the new one for a day after a rotation. */
  webhook_previous_secret_enc: Buffer | null;
  total_spent_usd: ColumnType<string, never, never>;
  created_by: number;
  created_at: Generated<Date>;
  updated_at: Timestamp;
  deleted_at: Date | null;
}

/** Writer: the API (the creator becomes owner) and `admin`. */
export interface ProjectMembersTable {
  project_id: number;
  user_id: number;
  role: Role;
  created_at: Generated<Date>;
}

/** Writer: `admin`. A project's own key for a model provider, used before the platform's. */
export interface ProviderKeysTable {
  id: Generated<number>;
  project_id: number;
  provider: string;
  name: string;
  key_enc: Buffer;
  masked_key: string;
  created_at: Generated<Date>;
}

/** Writer: the API. */
export interface WorkflowsTable {
  id: Generated<number>;
  project_id: number;
  author_id: number;
  title: string;
  /** Position in the project, from 1. */
  sort_id: number;
  /** The drawing as it leaves the service: every secret in it is already `********`. */
  document: Json<Record<string, unknown>>;
  /** The secrets cut out of `document`, sealed (`graph/secrets.ts` names the places). */
  secrets_enc: Buffer | null;
  market_title: Generated<string>;
  short_description: Generated<string>;
  available_languages: Generated<string[]>;
  readme_guide: Generated<string>;
  run_fee_usd: Decimal;
  free_runs_per_user: Generated<number>;
  is_published: Generated<boolean>;
  slug: string | null;
  copied_from: number | null;
  first_published_at: Date | null;
  last_published_at: Date | null;
  /** The template run's drawing as it was published: what copies are made of. */
  published_snapshot: Buffer | null;
  created_at: Generated<Date>;
  updated_at: Timestamp;
  archived_at: Date | null;
}

/** Writer: run acceptance in the API. Immutable; identical graphs share one row. */
export interface GraphSnapshotsTable {
  /** SHA-256 of the document's JSON text. */
  hash: Buffer;
  document: Json<Record<string, unknown>>;
  /** `Plan` of graph/plan.ts. */
  plan: Json<unknown>;
  created_at: Generated<Date>;
}

/** Writer: acceptance (insert), flags and `applyExecutionUpdate` (the life of a run); `cost_usd` by the billing trigger. */
export interface RunsTable {
  id: string;
  workflow_id: number;
  project_id: number;
  user_id: number;
  status: StoredRunStatus;
  snapshot_hash: Buffer;
  /** The input as it leaves the service (secrets masked), defaults filled in. */
  input: Json<Record<string, unknown>>;
  /** The whole unmasked input, sealed; null when masking changed nothing. */
  input_enc: Buffer | null;
  /** The document's sealed secrets at acceptance (credential headers and the like). */
  secrets_enc: Buffer | null;
  /** Sequence of the last execution update that was applied. */
  sequence: Generated<number>;
  cost_usd: ColumnType<string, never, never>;
  error_code: string | null;
  error_message: string | null;
  /** Only for `Draft`: node id -> [{path: message}]. */
  node_errors: Json<Record<string, Record<string, string>[]>> | null;
  is_api_run: Generated<boolean>;
  use_in_marketplace_example: Generated<boolean>;
  use_as_marketplace_template: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Timestamp;
  run_started_at: Date | null;
  run_finished_at: Date | null;
  cancel_requested_at: Date | null;
  /** When the reconciler looks at the run next; null once it is terminal. */
  next_check_at: Date | null;
  check_attempts: Generated<number>;
}

/** Writer: the worker's activities; the end of a run closes what is still open. */
export interface NodeResultsTable {
  run_id: string;
  node_id: string;
  status: NodeStatus;
  /** Condition nodes: 1 true, 2 false. Others 0. */
  branch: Generated<number>;
  /** How often an activity took the node up; a dead worker's try counts. */
  attempts: Generated<number>;
  /** `{content, ...}` as it leaves the service (secrets masked). */
  result: Json<Record<string, unknown>> | null;
  /** The unmasked result, sealed; null when masking changed nothing. */
  result_enc: Buffer | null;
  error_code: string | null;
  error_message: string | null;
  started_at: Generated<Date>;
  finished_at: Date | null;
}

/** Writer: the worker's activities. A call that is paid or must not repeat is claimed here before it leaves. */
export interface ProviderCallsTable {
  run_id: string;
  node_id: string;
  turn: Generated<number>;
  ordinal: Generated<number>;
  /** `sent`: on the wire, outcome unknown. `applied`: outcome recorded. `refused`: never reached the other side. */
  state: 'sent' | 'applied' | 'refused';
  attempts: Generated<number>;
  /** How often a worker died with this call in flight: each may have been paid for twice. The user pays once. */
  crashes: Generated<number>;
  provider: string | null;
  model: string | null;
  usage: Json<unknown> | null;
  price_usd: Decimal | null;
  sent_at: Generated<Date>;
  replied_at: Date | null;
}

/** Writer: the worker's activities, one row an executed node; the end of a run adds what a dead worker could not. */
export interface BillingTransactionsTable {
  id: Generated<string>;
  run_id: string;
  node_id: string;
  project_id: number;
  user_id: number;
  /** The node kind's word, or `marketplace_fee`. */
  operation: string;
  status: TransactionStatus;
  amount_usd: Decimal;
  /** Which price list gave the amount; empty for what is free. */
  price_version: Generated<string>;
  reason: Generated<string>;
  description: Generated<string>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** Writer: the worker's activities. The tools of an agent, fixed at its first turn. */
export interface AgentSessionsTable {
  run_id: string;
  node_id: string;
  /** Sealed JSON of `AgentTool[]` (activities/agent-session.ts). */
  tools_enc: Buffer;
  created_at: Generated<Date>;
}

/** Writer: the worker's activities. What the model said in each turn. */
export interface AgentTurnsTable {
  run_id: string;
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
  /** Sealed text of what the model is told. */
  answer_enc: Buffer | null;
  finished_at: Date | null;
}

export type ToolOutcome = 'result' | 'tool_error' | 'rejected' | 'expired' | 'invalid';
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired';

/** Writers: the worker inserts and expires; the API decides (one guarded update: whoever comes first). */
export interface ApprovalRequestsTable {
  request_id: string;
  run_id: string;
  node_id: string;
  turn: number;
  ordinal: number;
  server_label: string;
  tool_name: string;
  /** As shown: secrets masked. */
  arguments: Json<unknown>;
  status: Generated<ApprovalStatus>;
  reason: Generated<string>;
  decided_by: number | null;
  decided_at: Date | null;
  /** When the run workflow took the signal; null is delivered again. */
  signalled_at: Date | null;
  created_at: Generated<Date>;
  expires_at: Date;
}

/** Writer: run acceptance in the API, in one transaction with the run. A row counts for 24 hours. */
export interface IdempotencyKeysTable {
  user_id: number;
  key: string;
  /** What was asked with the key, hashed and sealed: a plain hash would let a short secret be guessed. */
  request_enc: Buffer;
  run_id: string;
  created_at: Generated<Date>;
}

/** Writer: a trigger on `runs`. */
export interface WorkflowRunCountsTable {
  workflow_id: ColumnType<number, never, never>;
  total: ColumnType<number, never, never>;
}

/** Writer: `admin`. A category with a parent is a subcategory; there is no third level. */
export interface CategoriesTable {
  id: Generated<number>;
  name: string;
  parent_id: number | null;
  created_at: Generated<Date>;
}

/** Writer: the API. */
export interface WorkflowCategoriesTable {
  workflow_id: number;
  category_id: number;
}

/** Writer: the API. */
export interface BookmarksTable {
  user_id: number;
  workflow_id: number;
  created_at: Generated<Date>;
}

/** Writer: the API, one row a copy. The terms are those that the copier saw: a later price is not theirs. */
export interface MarketplaceCopiesTable {
  copy_id: number;
  source_id: number;
  user_id: number;
  run_fee_usd: Decimal;
  free_runs_per_user: number;
  created_at: Generated<Date>;
}

/** Writer: the end of a run. Succeeded runs of a user on all their copies of a source that has a fee. */
export interface MarketplaceUsageTable {
  source_id: number;
  user_id: number;
  succeeded_runs: number;
}

/** Writer: triggers on `workflows`, `runs` and `billing_transactions`. `Draft` runs do not count. */
export interface WorkflowStatisticsTable {
  workflow_id: ColumnType<number, never, never>;
  run_count: ColumnType<number, never, never>;
  /** Runs that have a duration. */
  finished_count: ColumnType<number, never, never>;
  total_duration_seconds: ColumnType<string, never, never>;
  total_cost_usd: ColumnType<string, never, never>;
  last_run_id: ColumnType<string | null, never, never>;
  last_run_at: ColumnType<Date | null, never, never>;
}

/** Writers: whoever writes an event (`enqueueWebhookEvent`, insert only), and webhook delivery in the API. */
export interface WebhookDeliveriesTable {
  /** The `webhook-id` of every attempt. */
  id: Generated<string>;
  /** The order of a run's events: given under the run's row lock, so that it is also the order of the commits. */
  ordinal: Generated<number>;
  project_id: number;
  run_id: string;
  type: WebhookEventType;
  payload: string;
  status: Generated<WebhookDeliveryStatus>;
  /** Attempts that have begun. */
  attempts: Generated<number>;
  /** Of the last attempt; null when it got no answer. */
  response_status: number | null;
  /** Why the last attempt failed, or why the event was dropped. */
  error_code: string | null;
  created_at: Generated<Date>;
  /** Null once the event is settled. */
  next_attempt_at: Date | null;
  /** An attempt is under way until then; later its process counts as dead. */
  leased_until: Date | null;
  delivered_at: Date | null;
}

export interface Tables {
  users: UsersTable;
  api_keys: ApiKeysTable;
  rate_limits: RateLimitsTable;
  projects: ProjectsTable;
  project_members: ProjectMembersTable;
  provider_keys: ProviderKeysTable;
  workflows: WorkflowsTable;
  graph_snapshots: GraphSnapshotsTable;
  runs: RunsTable;
  node_results: NodeResultsTable;
  provider_calls: ProviderCallsTable;
  billing_transactions: BillingTransactionsTable;
  agent_sessions: AgentSessionsTable;
  agent_turns: AgentTurnsTable;
  agent_tool_calls: AgentToolCallsTable;
  approval_requests: ApprovalRequestsTable;
  idempotency_keys: IdempotencyKeysTable;
  workflow_run_counts: WorkflowRunCountsTable;
  categories: CategoriesTable;
  workflow_categories: WorkflowCategoriesTable;
  bookmarks: BookmarksTable;
  marketplace_copies: MarketplaceCopiesTable;
  marketplace_usage: MarketplaceUsageTable;
  workflow_statistics: WorkflowStatisticsTable;
  webhook_deliveries: WebhookDeliveriesTable;
}

export type ProjectRow = Selectable<ProjectsTable>;
export type WorkflowRow = Selectable<WorkflowsTable>;
export type RunRow = Selectable<RunsTable>;
export type NewRun = Insertable<RunsTable>;
export type NodeResultRow = Selectable<NodeResultsTable>;
