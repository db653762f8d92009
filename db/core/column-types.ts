// Column types that cannot be derived from the database (scripts/table-types/sharper-types.ts).
import type { ColumnType } from 'kysely';

/** A `json` column: the driver parses it when reading; writing takes JSON text. */
export type JsonOf<T> = ColumnType<T, string, string>;

export type WebhookEventType =
  | 'workflow_run.started'
  | 'workflow_run.succeeded'
  | 'workflow_run.failed'
  | 'workflow_run.cancelled'
  | 'agent_approval.requested'
  | 'human_task.requested'
  | 'connection.needs_authorization'
  | 'project.budget_reached';

/** The channel through which an audited action was requested. `mcp:NAME` is the assistant of that name. */
export type AuditVia = 'session' | 'key' | 'link' | 'hook' | 'callback' | 'schedule' | 'system' | `mcp:${string}`;
