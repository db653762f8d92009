// The pins of workflows: results that tests use instead of executing a node. No other run reads them.
import { sql } from 'kysely';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { FixedOutcome } from '../../graph/fixed-outcome.js';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';
import { copyReferences, pinHolder, referTo } from '../files/references-repository.js';

/** The sealed part of a pin. */
interface StoredPin {
  outcome: FixedOutcome;
  /**
   * The node's fingerprint (api/test-runs/fingerprints.ts) when it was pinned; null if the saved drawing could not be
   * compiled or its start did not reach the node.
   */
  fingerprint: string | null;
  /**
   * The secrets of the saved drawing when the node was pinned, or of the run that the outcome comes from, if the
   * outcome contains any.
   */
  secretsThen?: string[] | undefined;
}

export interface PinPlace {
  workflowId: number;
  nodeId: string;
  /** The iteration that encloses the node; empty outside loops, and for a pin that counts in all iterations. */
  path: string;
}

export interface NewPin extends PinPlace, StoredPin {
  shown: FixedOutcome;
  sourceRun: string | null;
  userId: number;
}

export type Pin = Awaited<ReturnType<typeof listPins>>[number];

/** The limit for all pins of a workflow, because their list and each test read all of them. */
const MOST_PINS_BYTES = 8 * 1024 * 1024;

export async function listPins(db: Db, box: SecretBox, workflowId: number) {
  const rows = await selectPins(db, workflowId)
    .orderBy('node_id')
    .orderBy(sql`length(path)`)
    .orderBy('path')
    .execute();
  return rows.map((row) => openPin(box, workflowId, row));
}

export async function findPin(db: Db, box: SecretBox, { workflowId, nodeId, path }: PinPlace) {
  const row = await selectPins(db, workflowId)
    .where('node_id', '=', nodeId)
    .where('path', '=', path)
    .executeTakeFirst();
  return row && openPin(box, workflowId, row);
}

/** Returns the bytes of the sealed pins of a workflow. */
export async function measurePins(db: Db, workflowId: number): Promise<number> {
  const { bytes } = await db
    .selectFrom('pins')
    .select(sql<number>`coalesce(sum(octet_length(pin_enc)), 0)::integer`.as('bytes'))
    .where('workflow_id', '=', workflowId)
    .executeTakeFirstOrThrow();
  return bytes;
}

function selectPins(db: Db, workflowId: number) {
  return db
    .selectFrom('pins')
    .innerJoin('users', 'users.id', 'pins.updated_by')
    .select([
      'node_id as nodeId',
      'path',
      'outcome',
      'pin_enc',
      'source_run as sourceRun',
      'pins.updated_at as updatedAt',
    ])
    .select(['users.id as userId', 'users.name as userName'])
    .where('workflow_id', '=', workflowId);
}

type PinRow = Awaited<ReturnType<ReturnType<typeof selectPins>['executeTakeFirstOrThrow']>>;

function openPin(box: SecretBox, workflowId: number, { pin_enc: sealed, outcome, ...pin }: PinRow) {
  const stored = parseJson(box.open(sealed, 'pin', workflowId, pin.path, pin.nodeId)) as StoredPin;
  return { ...pin, ...stored, shown: outcome as unknown as FixedOutcome };
}

/**
 * Requires a transaction that is rolled back if this returns false: the pins of the workflow are then larger than
 * their limit.
 */
export async function storePin(transaction: Db, box: SecretBox, pin: NewPin): Promise<boolean> {
  const { workflowId } = pin;
  // The lock serializes concurrent requests, so that together they cannot exceed the limit.
  await transaction.selectFrom('workflows').select('id').where('id', '=', workflowId).forNoKeyUpdate().execute();
  await writePin(transaction, box, pin);
  await referTo(transaction, workflowId, pinHolder(pin), pin.outcome);
  return (await measurePins(transaction, workflowId)) <= MOST_PINS_BYTES;
}

async function writePin(db: Db, box: SecretBox, pin: NewPin): Promise<void> {
  const { workflowId, nodeId, path, outcome, fingerprint, secretsThen, shown, sourceRun, userId } = pin;
  const stored: StoredPin = { outcome, fingerprint, secretsThen };
  const sealed = box.seal(writeJson(stored), 'pin', workflowId, path, nodeId);
  const values = { outcome: writeJson(shown), pin_enc: sealed, source_run: sourceRun, updated_by: userId };
  await db
    .insertInto('pins')
    .values({ workflow_id: workflowId, path, node_id: nodeId, ...values })
    .onConflict((conflict) =>
      conflict.columns(['workflow_id', 'path', 'node_id']).doUpdateSet({ ...values, updated_at: sql<Date>`now()` }),
    )
    .execute();
}

export async function deletePin(db: Db, { workflowId, nodeId, path }: PinPlace): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('pins')
    .where('workflow_id', '=', workflowId)
    .where('path', '=', path)
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes the pins of nodes that the saved drawing no longer has. Requires the transaction that saves it. */
export async function deletePinsOfGone(transaction: Db, workflowId: number): Promise<void> {
  await sql`
    DELETE FROM pins WHERE workflow_id = ${workflowId} AND node_id NOT IN (
      SELECT node ->> 'id' FROM workflows, LATERAL json_array_elements(
        CASE json_typeof(document -> 'nodes') WHEN 'array' THEN document -> 'nodes' ELSE '[]' END) AS node
      WHERE workflows.id = ${workflowId} AND node ->> 'id' IS NOT NULL)`.execute(transaction);
}

/** Requires the transaction that duplicates a workflow. */
export async function copyPins(transaction: Db, box: SecretBox, from: number, to: number): Promise<void> {
  const pins = await transaction
    .selectFrom('pins')
    .select(['path', 'node_id', 'outcome', 'pin_enc', 'source_run', 'updated_by', 'updated_at'])
    .where('workflow_id', '=', from)
    .execute();
  for (const { outcome, pin_enc: sealed, path, node_id: nodeId, ...pin } of pins) {
    const moved = box.seal(box.open(sealed, 'pin', from, path, nodeId), 'pin', to, path, nodeId);
    const place = { workflow_id: to, path, node_id: nodeId };
    await transaction
      .insertInto('pins')
      .values({ ...pin, ...place, outcome: writeJson(outcome), pin_enc: moved })
      .execute();
    const of = (workflowId: number) => pinHolder({ workflowId, path, nodeId });
    await copyReferences(transaction, of(from), of(to));
  }
}
