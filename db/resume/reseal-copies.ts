// Sealed values are bound to their rows, so the reused results of an earlier run must be sealed again for the new run.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';

/** Limits the memory of a batch: a single result may have 10 MiB. */
const BATCH_ROWS = 500;
const BATCH_BYTES = 8 * 1024 * 1024;

interface Copies {
  table: 'node_results' | 'loop_items';
  column: string;
  /** The key columns after `run_id`, in the order of the key, with their types. */
  key: readonly (readonly [column: string, type: 'text' | 'integer'])[];
  reseal: (sealed: Buffer, key: readonly (string | number)[]) => Buffer;
}

/**
 * Must run in the transaction that has copied the rows of `fromRunId` to `toRunId`. Seals only the values that both
 * runs have in common, because `toRunId` may also have values of other runs. Throws `MissingKeyError` if a key is gone.
 */
export async function resealCopies(transaction: Db, box: SecretBox, fromRunId: string, toRunId: string): Promise<void> {
  await resealTable(
    transaction,
    { fromRunId, toRunId },
    {
      table: 'node_results',
      column: 'result_enc',
      key: [
        ['path', 'text'],
        ['node_id', 'text'],
      ],
      reseal(sealed, key) {
        const [path, nodeId] = key as [string, string];
        return box.seal(box.open(sealed, 'node-result', fromRunId, path, nodeId), 'node-result', toRunId, path, nodeId);
      },
    },
  );
  await resealTable(
    transaction,
    { fromRunId, toRunId },
    {
      table: 'loop_items',
      column: 'item_enc',
      key: [
        ['path', 'text'],
        ['node_id', 'text'],
        ['index', 'integer'],
      ],
      reseal(sealed, key) {
        const [path, nodeId, index] = key as [string, string, number];
        return box.seal(
          box.open(sealed, 'loop-item', fromRunId, path, nodeId, index),
          'loop-item',
          toRunId,
          path,
          nodeId,
          index,
        );
      },
    },
  );
}

interface Runs {
  fromRunId: string;
  toRunId: string;
}

async function resealTable(transaction: Db, runs: Runs, copies: Copies): Promise<void> {
  const { table, column, key } = copies;
  let after: (string | number)[] | undefined;
  for (;;) {
    const batch = await readBatch(transaction, runs, copies, after);
    if (batch.length === 0) return;
    const parts = key.map(([, type], index) => {
      return sql`${batch.map((row) => row.key[index])}::${sql.raw(type)}[]`;
    });
    const fresh = batch.map((row) => copies.reseal(row.sealed, row.key));
    const names = sql.join(key.map(([name]) => sql.ref(name)));
    const keyConditions = key.map(([name]) => sql`copy.${sql.ref(name)} = given.${sql.ref(name)}`);
    await sql`
      UPDATE ${sql.table(table)} AS copy SET ${sql.ref(column)} = given.fresh
      FROM unnest(${sql.join(parts)}, ${fresh}::bytea[]) AS given (${names}, fresh)
      WHERE copy.run_id = ${runs.toRunId} AND ${sql.join(keyConditions, sql` AND `)}`.execute(transaction);
    after = batch.at(-1)!.key;
  }
}

/** Reads rows after `after` in the order of their key: at least one, however large it is. */
async function readBatch(
  transaction: Db,
  { fromRunId, toRunId }: Runs,
  { table, column, key }: Copies,
  after: (string | number)[] | undefined,
): Promise<{ key: (string | number)[]; sealed: Buffer }[]> {
  const columns = sql.join(key.map(([name]) => sql.ref(name)));
  const isAfter = after === undefined ? sql`true` : sql`(${columns}) > (${sql.join(after)})`;
  const same = [...key.map(([name]) => name), column].map((name) => {
    return sql`original.${sql.ref(name)} = copy.${sql.ref(name)}`;
  });
  const { rows } = await sql<{ key: (string | number)[]; sealed: Buffer }>`
    WITH due AS (
      SELECT ${columns}, octet_length(${sql.ref(column)}) AS bytes FROM ${sql.table(table)} AS copy
      WHERE run_id = ${toRunId} AND ${isAfter} AND EXISTS (
        SELECT FROM ${sql.table(table)} AS original
        WHERE original.run_id = ${fromRunId} AND ${sql.join(same, sql` AND `)})
      ORDER BY ${columns} LIMIT ${BATCH_ROWS}::integer
    ), batch AS (
      SELECT ${columns}, sum(bytes) OVER (ORDER BY ${columns}) - bytes AS bytes_before FROM due
    )
    SELECT json_build_array(${columns}) AS key, ${sql.ref(column)} AS sealed
    FROM batch JOIN ${sql.table(table)} USING (${columns})
    WHERE run_id = ${toRunId} AND bytes_before < ${BATCH_BYTES}::bigint ORDER BY ${columns}`.execute(transaction);
  return rows;
}
