// What the database does not tell of its columns. The rest of db/core/table-types.ts follows from its types, its defaults and
// its checks.

/** Columns that an insert must name although they have a default: a row of an iteration without its path would be one of the run. */
export const ALWAYS_GIVEN = ['path'];

/** Written by triggers alone, or columns of a view. */
const READ_ONLY = 'ColumnType<string, never, never>';
const COUNT = 'ColumnType<number, never, never>';
const OBJECT = 'JsonOf<Record<string, unknown>>';

/** TypeScript by table and column. A name that is not of TypeScript, of Kysely or of a table is one of db/core/column-types.ts. */
export const sharperTypes: Record<string, string> = {
  'approval_requests.roles': "ProjectMembers['role'][] | null",
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
  'runs.cost_usd': READ_ONLY,
  'runs.input': OBJECT,
  'runs.node_errors': 'JsonOf<Record<string, Record<string, string>[]>> | null',
  'webhook_deliveries.type': 'WebhookEventType',
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
