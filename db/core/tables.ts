// Short names for rows of tables and values of columns. table-types.ts declares the tables, and says which code may
// write each of them.
import type { Insertable, Selectable } from 'kysely';
import type { DB } from './table-types.js';

export type { AuditVia, WebhookEventType } from './column-types.js';

export type Tables = DB;

type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

export type ProjectRow = Row<'projects'>;
export type WorkflowRow = Row<'workflows'>;
export type NewRun = Insertable<Tables['runs']>;

export type Role = Row<'project_members'>['role'];
/** The rights of a key: everything; running workflows and answering their requests; or reading. */
export type KeyScope = Row<'api_keys'>['scope'];
export type SignInMethod = Row<'sessions'>['method'];
export type ConversationPurpose = Row<'conversations'>['purpose'];
export type RunPurpose = Row<'runs'>['purpose'];
export type LinkPurpose = Row<'sign_in_links'>['purpose'];

export type StoredRunStatus = Row<'runs'>['status'];
export type NodeStatus = Row<'node_results'>['status'];
export type ApprovalStatus = Row<'approval_requests'>['status'];
export type ToolOutcome = NonNullable<Row<'agent_tool_calls'>['outcome']>;
export type HumanTaskStatus = Row<'human_tasks'>['status'];

export type TransactionStatus = Row<'billing_transactions'>['status'];
export type SpendingPeriod = NonNullable<Row<'projects'>['spending_period']>;
export type SpendingLimitKind = Row<'spending_stops'>['limited'];

export type ConnectionKind = Row<'connections'>['kind'];
export type ConnectionStatus = Row<'connections'>['status'];
export type HolderKind = Row<'file_references'>['kind'];
export type HookVerification = Row<'hooks'>['verify'];
export type ScheduleOverlap = Row<'schedules'>['overlap'];
