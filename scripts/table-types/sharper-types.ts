// Column types that the database does not know. The rest of db/core/table-types.ts follows from the types, defaults and
// checks of the database.

/**
 * Columns that an insert must name although they have a default: without its path, an iteration's row would belong
 * to the run itself.
 */
export const ALWAYS_GIVEN = ['path'];

/** The type of `numeric` columns that only triggers write, and of those of a view. Reading gives their text. */
const READ_ONLY = 'ColumnType<string, never, never>';
const COUNT = 'ColumnType<number, never, never>';
const OBJECT = 'JsonOf<Record<string, unknown>>';

/**
 * TypeScript types by table and column. Names that neither TypeScript, Kysely nor a table defines are from
 * db/core/column-types.ts.
 */
export const sharperTypes: Record<string, string> = {
  'answer_baselines.document': `${OBJECT} | null`,
  'approval_requests.roles': "ProjectMembers['role'][] | null",
  'audit_records.via': 'AuditVia',
  'audit_records.changes': 'JsonOf<Record<string, [unknown, unknown]>>',
  'connections.settings': OBJECT,
  'conversation_messages.files': 'JsonOf<unknown[]>',
  'conversation_messages.answer_files': 'JsonOf<unknown[]> | null',
  'graph_snapshots.document': OBJECT,
  'human_tasks.files': 'JsonOf<unknown>',
  'node_results.result': `${OBJECT} | null`,
  'pins.outcome': OBJECT,
  'projects.total_spent_usd': READ_ONLY,
  'projects.spent_on': 'ColumnType<Date | null, never, never>',
  'projects.spent_that_day_usd': READ_ONLY,
  'projects.spent_that_month_usd': READ_ONLY,
  'service_actions.body': `${OBJECT} | null`,
  'service_actions.fields': OBJECT,
  'service_actions.result': `${OBJECT} | null`,
  'runs.cost_usd': READ_ONLY,
  'runs.input': OBJECT,
  'runs.node_errors': 'JsonOf<Record<string, Record<string, string>[]>> | null',
  'webhook_deliveries.type': 'WebhookEventType',
  'workflow_drafts.document': OBJECT,
  'workflow_statistics.workflow_id': COUNT,
  'workflow_statistics.recorded_count': COUNT,
  'workflow_statistics.run_count': COUNT,
  'workflow_statistics.finished_count': COUNT,
  'workflow_statistics.total_duration_seconds': READ_ONLY,
  'workflow_statistics.total_cost_usd': READ_ONLY,
  'workflow_statistics.last_run_id': 'ColumnType<string | null, never, never>',
  'workflow_statistics.last_run_at': 'ColumnType<Date | null, never, never>',
  'workflow_versions.document': OBJECT,
  'workflows.document': OBJECT,
};
