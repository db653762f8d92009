// Cases: inputs and mocks of a workflow, with expectations on its run.
import { sql } from 'kysely';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { Operator } from '../../graph/operators.js';
import type { Db } from '../core/client.js';
import { anyOf } from '../core/statement.js';
import { inTransaction } from '../core/in-transaction.js';
import { referTo } from '../files/references-repository.js';
import { reserveId } from '../core/reserve-id.js';
import type { SecretBox } from '../core/secret-box.js';

export interface Expectation {
  node?: string | undefined;
  output?: true | undefined;
  /** The path after `node.` in a variable, or inside the output. */
  path: string;
  operator: Operator;
  right?: string | number | boolean | undefined;
}

export interface CaseContent {
  input: Record<string, unknown>;
  mocks: Record<string, unknown>;
  expect: Expectation[];
  /** The fields that were secret when the input was set. Their values stay secret even if the fields no longer are. */
  secretFieldIds?: string[] | undefined;
  /** The texts that were masked in the run from which the case was made, if its input contains secrets. */
  secretsThen?: string[] | undefined;
}

export interface Case {
  id: number;
  workflowId: number;
  name: string;
  isRequired: boolean;
  content: CaseContent;
  createdAt: Date;
  updatedAt: Date;
}

interface CaseRow {
  id: number;
  workflow_id: number;
  name: string;
  is_required: boolean;
  content_enc: Buffer;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = ['id', 'workflow_id', 'name', 'is_required', 'content_enc', 'created_at', 'updated_at'] as const;

function toCase(box: SecretBox, row: CaseRow): Case {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    name: row.name,
    isRequired: row.is_required,
    content: parseJson(box.open(row.content_enc, 'case', row.workflow_id, row.id)) as CaseContent,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Which cases of a workflow are read. */
export interface ChosenCases {
  workflowId: number;
  ids?: readonly number[] | undefined;
  isRequired?: true;
  limit: number;
  offset?: number;
}

/** Ordered by creation. */
export async function listCases(db: Db, box: SecretBox, chosen: ChosenCases): Promise<Case[]> {
  const rows = await selectCases(db, chosen).select(COLUMNS).execute();
  return rows.map((row) => toCase(box, row));
}

/** Returns the bytes of the sealed contents of cases. */
export async function measureCases(db: Db, chosen: ChosenCases): Promise<number> {
  const sizes = selectCases(db, chosen).select(sql<number>`octet_length(content_enc)`.as('bytes'));
  const { bytes } = await db
    .selectFrom(sizes.as('sizes'))
    .select(sql<number>`coalesce(sum(bytes), 0)::integer`.as('bytes'))
    .executeTakeFirstOrThrow();
  return bytes;
}

function selectCases(db: Db, { workflowId, ids, isRequired, limit, offset = 0 }: ChosenCases) {
  const all = db.selectFrom('cases').where('workflow_id', '=', workflowId).orderBy('id').limit(limit).offset(offset);
  const named = ids === undefined ? all : all.where('id', '=', anyOf(ids));
  return isRequired ? named.where('is_required', '=', true) : named;
}

export async function countCases(db: Db, workflowId: number): Promise<number> {
  const { total } = await db
    .selectFrom('cases')
    .select((row) => row.fn.countAll<number>().as('total'))
    .where('workflow_id', '=', workflowId)
    .executeTakeFirstOrThrow();
  return total;
}

export async function findCase(db: Db, box: SecretBox, workflowId: number, id: number): Promise<Case | undefined> {
  const row = await db
    .selectFrom('cases')
    .select(COLUMNS)
    .where('workflow_id', '=', workflowId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toCase(box, row);
}

interface NewCase {
  workflowId: number;
  name: string;
  isRequired: boolean;
  content: CaseContent;
}

/** Returns undefined, without a new case, if the workflow has `most` cases. */
export function insertCase(db: Db, box: SecretBox, made: NewCase, most = Infinity): Promise<number | undefined> {
  return inTransaction(db, async (transaction) => {
    const { workflowId, name, isRequired, content } = made;
    // The lock serializes concurrent requests, so that together they cannot exceed the limit.
    await transaction.selectFrom('workflows').select('id').where('id', '=', workflowId).forNoKeyUpdate().execute();
    if ((await countCases(transaction, workflowId)) >= most) return undefined;
    const id = await reserveId(transaction, 'cases');
    const sealed = box.seal(writeJson(content), 'case', workflowId, id);
    await transaction
      .insertInto('cases')
      .values({ id, workflow_id: workflowId, name, is_required: isRequired, content_enc: sealed })
      .execute();
    await referTo(transaction, workflowId, { kind: 'case', id: String(id) }, content);
    return id;
  });
}

export function updateCase(db: Db, box: SecretBox, { id, workflowId, name, isRequired, content }: Case): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const sealed = box.seal(writeJson(content), 'case', workflowId, id);
    await transaction
      .updateTable('cases')
      .set({ name, is_required: isRequired, content_enc: sealed, updated_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where('workflow_id', '=', workflowId)
      .execute();
    await referTo(transaction, workflowId, { kind: 'case', id: String(id) }, content);
  });
}

export async function deleteCase(db: Db, workflowId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('cases')
    .where('workflow_id', '=', workflowId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Requires the transaction that duplicates a workflow. */
export async function copyCases(transaction: Db, box: SecretBox, from: number, to: number): Promise<void> {
  const rows = await transaction
    .selectFrom('cases')
    .select(COLUMNS)
    .where('workflow_id', '=', from)
    .orderBy('id')
    .execute();
  for (const row of rows) await insertCase(transaction, box, { ...toCase(box, row), workflowId: to });
}
