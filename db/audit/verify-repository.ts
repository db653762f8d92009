// Verifies that nobody has changed the records of the audit log (`admin audit verify`, docs/operate/audit.md).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { hashedColumns, hashRecord } from './chain-repository.js';

export interface Verification {
  /** The number of chained records found. */
  entries: number;
  intact: boolean;
  /**
   * The id of the first record that was changed or follows a missing one. If only the end of a chain does not match the
   * chain's row in `audit_chains`, the `last_id` of that row. Null if intact.
   */
  first_broken: number | null;
}

interface Head {
  project: number;
  entries: number;
  lastId: number;
  lastHash: Buffer;
  expired: number;
  expiredHash: Buffer;
}

interface ChainedRecord {
  id: number;
  position: number;
  hash: Buffer;
  texts: (string | null)[];
}

const AT_ONCE = 2_000;

/**
 * Verifies all chains, or that of one project. Needs a transaction with one snapshot, because records may
 * be added meanwhile.
 */
export async function verifyRecords(transaction: Db, projectId?: number): Promise<Verification> {
  // If the head of a chain was deleted, its records still exist.
  const { rows: heads } = await sql<Head>`
    SELECT project, coalesce(entries, 0) AS entries, coalesce(last_id, 0) AS "lastId", coalesce(expired, 0) AS expired,
      coalesce(last_hash, '') AS "lastHash", coalesce(expired_hash, '') AS "expiredHash"
    FROM (SELECT project_id AS project FROM audit_chains
      UNION SELECT coalesce(project_id, 0) FROM audit_records WHERE position IS NOT NULL) AS chain
      LEFT JOIN audit_chains ON project_id = project
    WHERE ${projectId ?? null}::integer IS NULL OR project = ${projectId ?? null}
    ORDER BY project`.execute(transaction);
  const whole: Verification = { entries: 0, intact: true, first_broken: null };
  for (const head of heads) {
    const { entries, first_broken: broken } = await verifyChain(transaction, head);
    whole.entries += entries;
    if (broken === null) continue;
    whole.intact = false;
    whole.first_broken = Math.min(broken, whole.first_broken ?? broken);
  }
  return whole;
}

async function verifyChain(transaction: Db, head: Head): Promise<Omit<Verification, 'intact'>> {
  let [position, hash, entries] = [head.expired, head.expiredHash, 0];
  let broken: number | null = null;
  for (let after = 0; ;) {
    const records = await readChain(transaction, head.project, after);
    for (const record of records) {
      position += 1;
      hash = hashRecord(hash, position, record.texts);
      const isRight = record.position === position && record.position <= head.entries && record.hash.equals(hash);
      if (!isRight) broken ??= record.id;
      // Report only the first difference: continue with the stored position and hash.
      ({ position, hash } = record);
    }
    entries += records.length;
    after = records.at(-1)?.position ?? after;
    if (records.length < AT_ONCE) break;
  }
  // The last records are missing, or the head is wrong.
  if (broken === null && (position !== head.entries || !hash.equals(head.lastHash))) broken = head.lastId;
  return { entries, first_broken: broken };
}

async function readChain(transaction: Db, project: number, after: number): Promise<ChainedRecord[]> {
  const { rows } = await sql<ChainedRecord>`
    SELECT id, position, hash, ${hashedColumns} AS texts FROM audit_records
    WHERE coalesce(project_id, 0) = ${project} AND position > ${after}
    ORDER BY position LIMIT ${AT_ONCE}`.execute(transaction);
  return rows;
}
