// Deletes records of the audit log that are older than retention allows. docs/operate/audit.md.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { Batch } from './retention-repository.js';

/** Records that are more than 400 days old, from the beginning of each chain. The database decides which those are. */
export async function expireAuditRecords(db: Db, limit: number): Promise<Batch> {
  const { rows } = await sql<{ expired: number }>`SELECT expire_audit_records(${limit}) AS expired`.execute(db);
  const expired = rows[0]?.expired ?? 0;
  return { expired: { audit_records: expired }, hasMore: expired >= limit };
}
