// Chains the records of the audit log. The order of a chain is the order in which its records are found here, not that of
// their ids: a transaction with a lower id may commit later, and its record then follows.
import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';

interface Unchained {
  id: number;
  chain: number;
  texts: (string | null)[];
}

interface Chain {
  chain: number;
  entries: number;
  hash: Buffer;
}

/**
 * Chains up to `limit` committed records, the oldest first, and returns how many. In a transaction that no other process
 * is in at the same time (`withAdvisoryLock`): the heads of the chains change with the records.
 */
export async function chainRecords(transaction: Db, limit: number): Promise<number> {
  const { rows: records } = await sql<Unchained>`
    SELECT id, coalesce(project_id, 0) AS chain, ${hashedColumns} AS texts FROM audit_records
    WHERE position IS NULL ORDER BY id LIMIT ${limit}`.execute(transaction);
  if (records.length === 0) return 0;
  const chains = await lockChains(transaction, [...new Set(records.map(({ chain }) => chain))]);
  const chained = records.map(({ id, chain, texts }) => {
    const head = chains.get(chain)!;
    const position = head.entries + 1;
    const hash = hashRecord(head.hash, position, texts);
    chains.set(chain, { chain, entries: position, hash });
    return { id, chain, position, hash };
  });
  const ids = chained.map(({ id }) => id);
  const positions = chained.map(({ position }) => position);
  const hashes = chained.map(({ hash }) => hash);
  await sql`
    UPDATE audit_records AS record SET position = chained.position, hash = chained.hash
    FROM unnest(${ids}::bigint[], ${positions}::bigint[], ${hashes}::bytea[]) AS chained (id, position, hash)
    WHERE record.id = chained.id`.execute(transaction);
  const heads = new Map(chained.map((record) => [record.chain, record]));
  await sql`
    UPDATE audit_chains SET entries = head.entries, last_id = head.id, last_hash = head.hash
    FROM unnest(${[...heads.keys()]}::integer[], ${[...heads.values()].map(({ position }) => position)}::bigint[],
      ${[...heads.values()].map(({ id }) => id)}::bigint[], ${[...heads.values()].map(({ hash }) => hash)}::bytea[])
      AS head (chain, entries, id, hash)
    WHERE project_id = head.chain`.execute(transaction);
  return records.length;
}

async function lockChains(transaction: Db, ids: number[]): Promise<Map<number, Chain>> {
  await sql`INSERT INTO audit_chains (project_id) SELECT unnest(${ids}::integer[]) ON CONFLICT DO NOTHING`.execute(
    transaction,
  );
  const { rows } = await sql<Chain>`
    SELECT project_id AS chain, entries, last_hash AS hash FROM audit_chains
    WHERE project_id = ANY (${ids}::integer[]) ORDER BY project_id FOR UPDATE`.execute(transaction);
  return new Map(rows.map((row) => [row.chain, row]));
}

// The hash of a record. Whoever changes a record, or its place among the others, cannot keep the hashes behind it.

/** Everything that a record tells, as texts of the database: what was stored comes back the same for ever. */
export const hashedColumns: RawBuilder<string[]> = sql<string[]>`ARRAY[id::text,
  to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), project_id::text, action, outcome, actor_id::text,
  actor_name, via, key_id::text, address, target_type, target_id, target_name, changes::text, count::text]`;

/** SHA-256 over the hash of the record before it (empty for the first one), the position in the chain and the texts. */
export function hashRecord(before: Buffer, position: number, texts: readonly (string | null)[]): Buffer {
  return createHash('sha256')
    .update(before)
    .update(JSON.stringify([position, ...texts]))
    .digest();
}
