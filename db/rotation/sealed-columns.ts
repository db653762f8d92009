// Lists all columns with sealed values (`db/core/secret-box.ts`), and seals them again when the key changes.
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../core/client.js';
import type { SealedRows, SecretBox, SecretContext } from '../core/secret-box.js';
import type { Tables } from '../core/tables.js';

export interface SealedColumn {
  table: keyof Tables;
  column: string;
  context: SecretContext;
  /** The table's primary key, in its order. */
  key: readonly string[];
  /** SQL of the values to which the sealed value is bound (`SealedRows`), if these are not the key. */
  row?: readonly string[];
}

const NODE = ['run_id', 'path', 'node_id'] as const;
const TURN = [...NODE, 'turn'] as const;
const TOOL_CALL = [...TURN, 'ordinal'] as const;

const IN_PROJECT = ['project_id', 'id'];
const OF_WORKFLOW = ['(SELECT project_id FROM workflows WHERE id = workflow_id)', 'workflow_id'];

/** A test compares this list with the columns of the database. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'workflows', column: 'secrets_enc', context: 'workflow-secrets', key: ['id'], row: IN_PROJECT },
  // Must follow the table from which its values are copied.
  {
    table: 'workflow_versions',
    column: 'secrets_enc',
    context: 'workflow-secrets',
    key: ['workflow_id', 'version'],
    row: OF_WORKFLOW,
  },
  {
    table: 'workflow_drafts',
    column: 'secrets_enc',
    context: 'draft-secrets',
    key: ['workflow_id', 'user_id'],
    row: [...OF_WORKFLOW, 'user_id'],
  },
  {
    table: 'answer_baselines',
    column: 'secrets_enc',
    context: 'draft-secrets',
    key: ['conversation_id'],
    row: [...OF_WORKFLOW, 'user_id'],
  },
  { table: 'runs', column: 'input_enc', context: 'run-input', key: ['id'], row: IN_PROJECT },
  { table: 'runs', column: 'secrets_enc', context: 'run-secrets', key: ['id'], row: IN_PROJECT },
  { table: 'runs', column: 'passed_secrets_enc', context: 'passed-secrets', key: ['id'], row: IN_PROJECT },
  { table: 'node_results', column: 'result_enc', context: 'node-result', key: NODE },
  { table: 'loop_items', column: 'item_enc', context: 'loop-item', key: [...NODE, 'index'] },
  { table: 'agent_sessions', column: 'tools_enc', context: 'agent-tools', key: NODE },
  { table: 'agent_turns', column: 'message_enc', context: 'agent-message', key: TURN },
  { table: 'agent_tool_calls', column: 'arguments_enc', context: 'agent-arguments', key: TOOL_CALL },
  { table: 'agent_tool_calls', column: 'answer_enc', context: 'agent-answer', key: TOOL_CALL },
  { table: 'approval_requests', column: 'edited_enc', context: 'agent-edit', key: ['request_id'] },
  { table: 'waits', column: 'token_enc', context: 'callback-token', key: [...NODE, 'call'], row: NODE },
  { table: 'waits', column: 'answer_enc', context: 'callback-answer', key: [...NODE, 'call'], row: NODE },
  { table: 'hooks', column: 'token_enc', context: 'hook-token', key: ['id'] },
  { table: 'hooks', column: 'secret_enc', context: 'hook-secret', key: ['id'] },
  { table: 'connections', column: 'secrets_enc', context: 'connection-secrets', key: ['id'], row: IN_PROJECT },
  { table: 'connections', column: 'tokens_enc', context: 'connection-tokens', key: ['id'], row: IN_PROJECT },
  {
    table: 'connection_sign_ins',
    column: 'flow_enc',
    context: 'connection-flow',
    key: ['state_hash'],
    row: ['connection_id', "encode(state_hash, 'hex')"],
  },
  { table: 'conversations', column: 'inputs_enc', context: 'conversation-inputs', key: ['id'] },
  { table: 'conversation_messages', column: 'content_enc', context: 'message', key: ['id'] },
  { table: 'fixed_results', column: 'outcome_enc', context: 'fixed-result', key: NODE },
  { table: 'cases', column: 'content_enc', context: 'case', key: ['id'], row: ['workflow_id', 'id'] },
  { table: 'case_runs', column: 'drawing_enc', context: 'case-run', key: ['id'] },
  { table: 'case_results', column: 'detail_enc', context: 'case-result', key: ['case_run_id', 'case_id'] },
  { table: 'pins', column: 'pin_enc', context: 'pin', key: ['workflow_id', 'path', 'node_id'] },
  { table: 'schedules', column: 'input_enc', context: 'schedule-input', key: ['id'] },
  { table: 'human_answers', column: 'entered_enc', context: 'human-answer', key: ['task_id', 'user_id'] },
  {
    table: 'provider_keys',
    column: 'key_enc',
    context: 'provider-key',
    key: ['id'],
    row: ['project_id', 'provider'],
  },
  { table: 'projects', column: 'webhook_secret_enc', context: 'webhook-secret', key: ['id'] },
  { table: 'projects', column: 'webhook_previous_secret_enc', context: 'webhook-secret', key: ['id'] },
  { table: 'idempotency_keys', column: 'request_enc', context: 'idempotency-key', key: ['user_id', 'key'] },
];

/** Limits the memory of a batch, independent of the table's size: a single result may have 10 MiB. */
const BATCH_ROWS = 200;
const BATCH_BYTES = 32 * 1024 * 1024;

/** Returns the number of values by key id (`SecretBox.keyId`). */
export async function countByKey(db: Database, { table, column }: SealedColumn): Promise<Map<string, number>> {
  const { rows } = await sql<{ keyId: string; values: number }>`
    SELECT ${keyIdOf(column)} AS "keyId", count(*) AS values FROM ${sql.table(table)}
    WHERE ${sql.ref(column)} IS NOT NULL GROUP BY 1 ORDER BY 1`.execute(db);
  return new Map(rows.map(({ keyId, values }) => [keyId, values]));
}

/**
 * Seals values again that are not sealed with the first key, and returns their number. Each value has its own
 * statement, which replaces only the value that was read, so a concurrent change by the service is not lost. After a
 * crash the next call continues. Values that no key opens are skipped.
 */
export async function resealColumn(db: Database, box: SecretBox, sealed: SealedColumn): Promise<number> {
  let count = 0;
  let after: unknown[] | undefined;
  for (;;) {
    const batch = await readBatch(db, box, sealed, after);
    for (const { key, row, value } of batch) {
      const fresh = reseal(box, sealed, value, row);
      if (fresh !== undefined && (await replaceValue(db, sealed, key, value, fresh))) count += 1;
    }
    after = batch.at(-1)?.key;
    if (after === undefined) return count;
  }
}

interface SealedRow {
  key: unknown[];
  row: (string | number)[];
  value: Buffer;
}

/**
 * Reads rows in the order of the primary key, so that values that cannot be opened do not block the ones after them.
 */
async function readBatch(
  db: Database,
  box: SecretBox,
  { table, column, key, row = key }: SealedColumn,
  after: unknown[] | undefined,
): Promise<SealedRow[]> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  const isBehind = after === undefined ? sql`true` : sql`(${columns}) > (${sql.join(after)})`;
  // Select keys and sizes first, which does not fetch the values.
  const { rows } = await sql<Record<string, unknown> & { sealed_value: Buffer; bound_to: (string | number)[] }>`
    WITH due AS (
      SELECT ${columns}, octet_length(${sql.ref(column)}) AS bytes FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} IS NOT NULL AND ${keyIdOf(column)} <> ${box.keyId} AND ${isBehind}
      ORDER BY ${columns} LIMIT ${BATCH_ROWS}::integer
    ), batch AS (
      SELECT ${columns}, sum(bytes) OVER (ORDER BY ${columns}) - bytes AS bytes_before FROM due
    )
    SELECT ${columns}, ${sql.ref(column)} AS sealed_value, json_build_array(${sql.raw(row.join(', '))}) AS bound_to
    FROM batch JOIN ${sql.table(table)} USING (${columns})
    WHERE bytes_before < ${BATCH_BYTES}::bigint AND ${sql.ref(column)} IS NOT NULL ORDER BY ${columns}`.execute(db);
  return rows.map((found) => ({
    key: key.map((name) => found[name]),
    row: found.bound_to,
    value: found.sealed_value,
  }));
}

function reseal(
  box: SecretBox,
  { context }: SealedColumn,
  value: Buffer,
  row: (string | number)[],
): Buffer | undefined {
  // `SEALED_COLUMNS` guarantees the type of the parts.
  const bound = row as SealedRows[SecretContext];
  try {
    return box.seal(box.open(value, context, ...bound), context, ...bound);
  } catch {
    return undefined;
  }
}

async function replaceValue(
  db: Database,
  { table, column, key }: SealedColumn,
  keyValues: unknown[],
  before: Buffer,
  after: Buffer,
): Promise<boolean> {
  const isRow = key.map((name, index) => sql`${sql.ref(name)} = ${keyValues[index]}`);
  const { numAffectedRows } = await sql`
    UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${after}
    WHERE ${sql.join(isRow, sql` AND `)} AND ${sql.ref(column)} = ${before}`.execute(db);
  return numAffectedRows === 1n;
}

function keyIdOf(column: string): RawBuilder<string> {
  return sql<string>`encode(substring(${sql.ref(column)} FROM 2 FOR 4), 'hex')`;
}
