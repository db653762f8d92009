// Types of columns that the database does not tell (scripts/table-types/sharper-types.ts).
import type { ColumnType } from 'kysely';

/** A `json` column: parsed by the driver on the way out, JSON text on the way in. */
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
