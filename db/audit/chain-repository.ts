// Chains the records of the audit log. A chain has the order in which its records are found here, not the order of
// their ids, because a transaction with a lower id may commit later.
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
 * Chains up to `limit` committed records, oldest first, and returns their number. Requires `withAdvisoryLock`, because
 * two concurrent calls would chain the same records.
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

// The hash of a record covers the hash before it, so nobody can change or move a record and keep the later hashes.

/**
 * All columns of a record except `position` and `hash`, as texts of the database, which are the same whenever they are
 * read.
 */
export const hashedColumns: RawBuilder<string[]> = sql<string[]>`ARRAY[id::text,
  to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), project_id::text, action, outcome, actor_id::text,
  actor_name, via, key_id::text, address, target_type, target_id, target_name, changes::text, count::text]`;

/** SHA-256 over the hash of the previous record (empty for the first one), the position in the chain and the texts. */
export function hashRecord(before: Buffer, position: number, texts: readonly (string | null)[]): Buffer {
  return createHash('sha256')
    .update(before)
    .update(JSON.stringify([position, ...texts]))
    .digest();
}
