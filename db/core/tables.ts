// All tables by their names. Each has its interface in `tables/`, which names the writer of the table: no other code may
// change it.
import type { Generated, Insertable, Selectable } from 'kysely';
import type {
  ApiKeysTable,
  ProjectMembersTable,
  ProjectsTable,
  ProviderKeysTable,
  RateLimitsTable,
  SessionRateLimitsTable,
  UsersTable,
} from './tables/account-tables.js';
import type {
  AgentSessionsTable,
  AgentToolCallsTable,
  RefusedToolsTable,
  AgentTurnsTable,
  ApprovalDecisionsTable,
  ApprovalRequestsTable,
} from './tables/agent-tables.js';
import type { AuditChainsTable, AuditRecordsTable, AuditRefusalsTable } from './tables/audit-tables.js';
import type { ConnectionSignInsTable, ConnectionsTable, ConnectionUsesTable } from './tables/connection-tables.js';
import type { ConversationMessagesTable, ConversationsTable } from './tables/conversation-tables.js';
import type { HumanAnswersTable, HumanTasksTable } from './tables/human-task-tables.js';
import type { FileCopiesTable, FileReferencesTable, FilesTable, FileStoreTable } from './tables/file-tables.js';
import type { RunDeltasTable, RunEventsTable, RunWatchesTable, ToldIterationsTable } from './tables/event-tables.js';
import type { HooksTable, HookWindowsTable } from './tables/hook-tables.js';
import type { MarketplaceCopiesTable, MarketplaceUsageTable } from './tables/marketplace-tables.js';
import type {
  BillingTransactionsTable,
  LoopItemsTable,
  LoopProgressTable,
  NodeAttemptsTable,
  NodeResultsTable,
  ProviderCallsTable,
} from './tables/node-tables.js';
import type { IdempotencyKeysTable, RunOutputsTable, RunsTable, ToolTasksTable } from './tables/run-tables.js';
import type { ScheduleFiringsTable, ScheduleRemovalsTable, SchedulesTable } from './tables/schedule-tables.js';
import type {
  LoginFailuresTable,
  LoginWaitsTable,
  OidcIdentitiesTable,
  SessionsTable,
  SignInLinksTable,
  UserPasswordsTable,
} from './tables/session-tables.js';
import type { BudgetsReachedTable, ChatCallsTable, SpendingStopsTable } from './tables/spending-tables.js';
import type { StoredBytesLimitTable, StoredBytesTable } from './tables/stored-bytes-tables.js';
import type {
  CaseResultsTable,
  CaseRunsTable,
  CasesTable,
  GivenResultsTable,
  PinsTable,
  TestRunsTable,
} from './tables/trying-tables.js';
import type { WaitsTable } from './tables/wait-tables.js';
import type { WebhookDeliveriesTable } from './tables/webhook-tables.js';
import type {
  BookmarksTable,
  CategoriesTable,
  GraphSnapshotsTable,
  WorkflowCategoriesTable,
  WorkflowStatisticsTable,
  WorkflowVersionsTable,
  WorkflowsTable,
} from './tables/workflow-tables.js';

export type { KeyScope, ProviderKeysTable, Role, SpendingPeriod, UsersTable } from './tables/account-tables.js';
export type { ApprovalStatus, ToolOutcome } from './tables/agent-tables.js';
export type { AuditVia } from './tables/audit-tables.js';
export type { ConnectionKind, ConnectionStatus } from './tables/connection-tables.js';
export type { HolderKind } from './tables/file-tables.js';
export type { HookVerification } from './tables/hook-tables.js';
export type { HumanTaskStatus } from './tables/human-task-tables.js';
export type { NodeStatus, TransactionStatus } from './tables/node-tables.js';
export type { StoredRunStatus } from './tables/run-tables.js';
export type { ScheduleOverlap } from './tables/schedule-tables.js';
export type { LinkPurpose, SignInMethod } from './tables/session-tables.js';
export type { SpendingLimitKind } from './tables/spending-tables.js';
export type { WebhookEventType } from './tables/webhook-tables.js';
export type { WorkflowsTable } from './tables/workflow-tables.js';

export interface Tables {
  users: UsersTable;
  api_keys: ApiKeysTable;
  rate_limits: RateLimitsTable;
  session_rate_limits: SessionRateLimitsTable;
  projects: ProjectsTable;
  project_members: ProjectMembersTable;
  provider_keys: ProviderKeysTable;
  stored_bytes: StoredBytesTable;
  stored_bytes_limit: StoredBytesLimitTable;
  waits: WaitsTable;
  human_tasks: HumanTasksTable;
  human_answers: HumanAnswersTable;
  workflows: WorkflowsTable;
  workflow_versions: WorkflowVersionsTable;
  graph_snapshots: GraphSnapshotsTable;
  runs: RunsTable;
  node_results: NodeResultsTable;
  loop_items: LoopItemsTable;
  loop_progress: LoopProgressTable;
  node_attempts: NodeAttemptsTable;
  provider_calls: ProviderCallsTable;
  billing_transactions: BillingTransactionsTable;
  agent_sessions: AgentSessionsTable;
  agent_turns: AgentTurnsTable;
  agent_tool_calls: AgentToolCallsTable;
  refused_tools: RefusedToolsTable;
  approval_requests: ApprovalRequestsTable;
  approval_decisions: ApprovalDecisionsTable;
  idempotency_keys: IdempotencyKeysTable;
  tool_tasks: ToolTasksTable;
  categories: CategoriesTable;
  workflow_categories: WorkflowCategoriesTable;
  bookmarks: BookmarksTable;
  marketplace_copies: MarketplaceCopiesTable;
  marketplace_usage: MarketplaceUsageTable;
  workflow_statistics: WorkflowStatisticsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  user_passwords: UserPasswordsTable;
  sessions: SessionsTable;
  sign_in_links: SignInLinksTable;
  login_failures: LoginFailuresTable;
  login_waits: LoginWaitsTable;
  oidc_identities: OidcIdentitiesTable;
  run_watches: RunWatchesTable;
  run_deltas: RunDeltasTable;
  run_events: RunEventsTable;
  told_iterations: ToldIterationsTable;
  run_outputs: RunOutputsTable;
  test_runs: TestRunsTable;
  given_results: GivenResultsTable;
  pins: PinsTable;
  cases: CasesTable;
  case_runs: CaseRunsTable;
  case_results: CaseResultsTable;
  connections: ConnectionsTable;
  connection_sign_ins: ConnectionSignInsTable;
  connection_uses: ConnectionUsesTable;
  conversations: ConversationsTable;
  conversation_messages: ConversationMessagesTable;
  file_store: FileStoreTable;
  file_copies: FileCopiesTable;
  files: FilesTable;
  file_references: FileReferencesTable;
  hooks: HooksTable;
  hook_windows: HookWindowsTable;
  schedules: SchedulesTable;
  schedule_firings: ScheduleFiringsTable;
  schedule_removals: ScheduleRemovalsTable;
  chat_calls: ChatCallsTable;
  spending_stops: SpendingStopsTable;
  budgets_reached: BudgetsReachedTable;
  audit_records: AuditRecordsTable;
  audit_chains: AuditChainsTable;
  audit_refusals: AuditRefusalsTable;
  routine_files: { name: string; hash: string; applied_at: Generated<Date> };
}

export type ProjectRow = Selectable<ProjectsTable>;
export type WorkflowRow = Selectable<WorkflowsTable>;
export type RunRow = Selectable<RunsTable>;
export type NewRun = Insertable<RunsTable>;
