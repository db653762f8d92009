// The bytes that projects store: what has changed since the last time, folded into the sums.
// docs/use/limits.md, "What a project stores", says what counts.
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { FOLDED_AT_ONCE, foldAll } from '../core/fold-changes.js';

/**
 * All that has been committed so far. In one statement, so that a process that dies has folded a change wholly or not at
 * all. Nothing is done while another process is at it (ADR 8).
 */
export function foldStoredBytes(db: Database): Promise<void> {
  return foldAll(db, 'stored-bytes', foldSome);
}

async function foldSome(trx: Db): Promise<number> {
  const { rows } = await sql<{ folded: number }>`
    WITH taken AS (
      DELETE FROM stored_byte_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM stored_byte_changes LIMIT ${FOLDED_AT_ONCE}))
      RETURNING *
    ), folded AS (
      INSERT INTO stored_bytes AS kept (project_id, bytes)
      SELECT project_id, sum(bytes) FROM taken GROUP BY project_id ORDER BY project_id
      ON CONFLICT (project_id) DO UPDATE SET bytes = kept.bytes + excluded.bytes
    )
    SELECT count(*)::integer AS folded FROM taken`.execute(trx);
  return rows[0]?.folded ?? 0;
}

/** Tells PostgreSQL what a project may store. It refuses what would pass that, whoever writes. */
export async function setStoredBytesLimit(db: Db, bytes: number): Promise<void> {
  await sql`
    INSERT INTO stored_bytes_limit AS kept (bytes) VALUES (${bytes})
    ON CONFLICT (is_only) DO UPDATE SET bytes = excluded.bytes WHERE kept.bytes <> excluded.bytes`.execute(db);
}

/** Throws PostgreSQL's refusal where the project would store more than it may with `bytes` more. */
export async function refuseBeyondQuota(db: Db, projectId: number, bytes: number): Promise<void> {
  await sql`SELECT refuse_beyond_quota(${projectId}, ${bytes})`.execute(db);
}

/** PostgreSQL's code, of our own (db/routines/stored-bytes.sql). Nothing of the statement was done. */
export function isQuotaExceeded(error: unknown): boolean {
  return ((error ?? {}) as { code?: unknown }).code === 'QB413';
}
