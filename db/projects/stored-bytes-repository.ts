// The bytes that projects store: folds changes since the last time into the sums. docs/use/limits.md, "What a project
// stores", says what counts.
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { FOLDED_AT_ONCE, foldAll } from '../core/fold-changes.js';

/**
 * Folds all committed changes. Each statement folds a change completely or not at all, so a crash loses nothing. Does
 * nothing while another process is folding (ADR 8).
 */
export function foldStoredBytes(db: Database, stopped?: AbortSignal): Promise<void> {
  return foldAll(db, 'stored-bytes', foldSome, stopped);
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

/**
 * Sets the quota of every project. The database refuses writes beyond it, except some that must not fail, such as the
 * writes of results that were paid for and of failures (db/routines/stored-bytes.sql).
 */
export async function setStoredBytesLimit(db: Db, bytes: number): Promise<void> {
  await sql`
    INSERT INTO stored_bytes_limit AS kept (bytes) VALUES (${bytes})
    ON CONFLICT (is_only) DO UPDATE SET bytes = excluded.bytes WHERE kept.bytes <> excluded.bytes`.execute(db);
}

/** Throws PostgreSQL's error if `bytes` more would exceed the project's quota. */
export async function refuseBeyondQuota(db: Db, projectId: number, bytes: number): Promise<void> {
  await sql`SELECT refuse_beyond_quota(${projectId}, ${bytes})`.execute(db);
}

/** True for the service's own SQLSTATE (db/routines/stored-bytes.sql). The statement has had no effect. */
export function isQuotaExceeded(error: unknown): boolean {
  return ((error ?? {}) as { code?: unknown }).code === 'QB413';
}
