// The bytes that projects store, recounted from the rows themselves.
import assert from 'node:assert/strict';
import { foldStoredBytes } from '../../db/projects/stored-bytes-repository.js';
import { createDatabase } from '../../db/core/client.js';
import { queryDatabase } from './inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';

const OF_RUNS = (bytes: string, table: string): string =>
  `SELECT sum(${bytes}) FROM ${table} AS kept JOIN runs ON runs.id = kept.run_id WHERE runs.project_id = $1`;
const OF_WORKFLOWS = (bytes: string, table: string): string =>
  `SELECT sum(${bytes}) FROM ${table} AS kept JOIN workflows ON workflows.id = kept.workflow_id
    WHERE workflows.project_id = $1`;
const size = (column: string): string => `coalesce(octet_length(${column}::text), 0)`;
const sealed = (column: string): string => `coalesce(octet_length(${column}), 0)`;
/** The size of a value that is stored twice, masked and sealed: only the larger copy counts. */
const either = (column: string, other: string): string =>
  `CASE WHEN ${column} IS NULL THEN 0 ELSE greatest(octet_length(${column}::text), octet_length(${other})) END`;

const PARTS = [
  `SELECT sum(${size('document')} + ${sealed('secrets_enc')} + ${size('readme_guide')}) FROM workflows WHERE project_id = $1`,
  OF_WORKFLOWS(`${size('kept.document')} + ${sealed('kept.secrets_enc')}`, 'workflow_versions'),
  OF_WORKFLOWS(`${size('kept.document')} + ${sealed('kept.secrets_enc')}`, 'workflow_drafts'),
  OF_WORKFLOWS(size('kept.document'), 'answer_baselines'),
  OF_WORKFLOWS(sealed('input_enc'), 'schedules'),
  `SELECT sum(${sealed('inputs_enc')}) FROM conversations WHERE project_id = $1`,
  `SELECT sum(greatest(octet_length(content), octet_length(content_enc)) + ${size('files')} + ${size('answer')}
    + ${size('answer_files')})
    FROM conversation_messages AS message JOIN conversations ON conversations.id = message.conversation_id
    WHERE project_id = $1`,
  `SELECT sum(${either('input', 'input_enc')} + ${sealed('secrets_enc')} + ${sealed('passed_secrets_enc')}
    + ${size('node_errors')}) FROM runs WHERE project_id = $1`,
  `SELECT sum(octet_length(document::text)) FROM graph_snapshots
    WHERE hash IN (SELECT snapshot_hash FROM runs WHERE project_id = $1)`,
  OF_RUNS(`${either('result', 'result_enc')} + ${size('kept.error_message')}`, 'node_results'),
  OF_RUNS(size('kept.error_message'), 'node_attempts'),
  OF_RUNS(sealed('item_enc'), 'loop_items'),
  OF_RUNS(sealed('tools_enc'), 'agent_sessions'),
  OF_RUNS(sealed('message_enc'), 'agent_turns'),
  OF_RUNS(`${sealed('arguments_enc')} + ${sealed('answer_enc')}`, 'agent_tool_calls'),
  OF_RUNS(`${size('arguments')} + ${sealed('edited_enc')}`, 'approval_requests'),
  OF_RUNS(sealed('answer_enc'), 'waits'),
  OF_RUNS(`${size('message')} + ${size('fields')}`, 'human_tasks'),
  `SELECT sum(${either('entered', 'entered_enc')} + ${size('comment')})
    FROM human_answers JOIN human_tasks USING (task_id) WHERE project_id = $1`,
];

const RECOUNTED = `SELECT ${PARTS.map((part) => `coalesce((${part}), 0)`).join(' + ')} AS bytes`;
const COUNTED = `SELECT coalesce((SELECT bytes FROM stored_bytes WHERE project_id = $1), 0)
  + coalesce((SELECT sum(bytes) FROM stored_byte_changes WHERE project_id = $1), 0) AS bytes`;

/**
 * Asserts that the counted bytes are those of the rows, and returns them. One statement reads both, so concurrent
 * changes do no harm.
 */
export async function assertBytesRight(stack: TestStack, projectId: number): Promise<number> {
  const both = `SELECT (${RECOUNTED})::text AS recounted, (${COUNTED})::text AS counted`;
  const [row] = await queryDatabase<{ recounted: string; counted: string }>(stack, both, [projectId]);
  assert.equal(row?.counted, row?.recounted);
  return Number(row?.counted);
}

export async function foldBytes(stack: TestStack): Promise<void> {
  const options = { poolMax: 1, applicationName: 'bytes-test', onError: () => undefined };
  const db = createDatabase({ url: stack.stack.database_url, ...options });
  try {
    await foldStoredBytes(db);
  } finally {
    await db.destroy();
  }
}
