// One interface a table. The writer of each table is named beside it: no other code may change it.
import type { ColumnType, Generated, Insertable, Selectable } from 'kysely';
import type {
  AgentSessionsTable,
  AgentToolCallsTable,
  AgentTurnsTable,
  ApprovalRequestsTable,
} from '../agents/agent-tables.js';
import type {
  BookmarksTable,
  CategoriesTable,
  MarketplaceCopiesTable,
  MarketplaceUsageTable,
  WorkflowCategoriesTable,
  WorkflowRunCountsTable,
  WorkflowStatisticsTable,
} from '../workflows/catalog-tables.js';
import type { Decimal, Json, Timestamp } from './column-types.js';
import type { WebhookDeliveriesTable } from '../webhooks/webhook-tables.js';

export type { ApprovalStatus, ToolOutcome } from '../agents/agent-tables.js';
export type { WebhookDeliveryStatus, WebhookEventType } from '../webhooks/webhook-tables.js';

export type Role = 'owner' | 'admin' | 'editor' | 'viewer';
export type StoredRunStatus = 'In Progress' | 'Succeeded' | 'Cancelled' | 'Error' | 'Draft';
export type NodeStatus = 'in progress' | 'succeed' | 'failed';
export type TransactionStatus = 'Succeeded' | 'Error';

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

/**
 * Writer: acceptance (insert), flags, `applyExecutionUpdate` (the life of a run), the reconciler (when to look next) and
 * retention (what of it is gone); `cost_usd` by the billing trigger.
 */
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
  /** Since when its workflow task fails again and again; null when the last check found it well. */
  stuck_since: Date | null;
  /** From then on the contents of the run count as gone, and no flag brings them back. */
  results_expired_at: Date | null;
  /** Expired, and some of its contents are still to be deleted. */
  is_purge_pending: Generated<boolean>;
  /** The unmasked input has expired, and `input` lacks what was masked in it. */
  is_input_lost: Generated<boolean>;
  /** W3C trace context of the request that it was accepted in; null while nothing is traced. */
  traceparent: Generated<string | null>;
}

/** Writer: the worker's activities; the end of a run closes what is still open; retention empties what has expired. */
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
  /** Of `result` as JSON text; null where nobody counted. */
  result_bytes: number | null;
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

/** Writer: run acceptance in the API, in one transaction with the run. A row counts for 24 hours. */
export interface IdempotencyKeysTable {
  user_id: number;
  key: string;
  /** What was asked with the key, hashed and sealed: a plain hash would let a short secret be guessed. */
  request_enc: Buffer;
  run_id: string;
  created_at: Generated<Date>;
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
