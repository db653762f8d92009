// What runs execute, frozen: identical drawings share one row. Writer: run acceptance.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import type { Db } from '../core/client.js';

/** What a graph is stored under. `document`: JSON text, secrets masked. */
export function hashDrawing(document: string): Buffer {
  return createHash('sha256').update(document).digest();
}

/** Stores the graph unless it is there already; answers its hash. */
export async function storeSnapshot(db: Db, document: string, plan: Plan): Promise<Buffer> {
  const hash = hashDrawing(document);
  await db
    .insertInto('graph_snapshots')
    .values({ hash, document, plan: JSON.stringify(plan) })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  return hash;
}

/** PostgreSQL's code, and the constraint, of a run whose graph has gone between its storing and the run's. */
export function isSnapshotGone(error: unknown): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === '23503' && constraint === 'runs_snapshot_hash_fkey';
}

export interface SnapshotSweep {
  deleted: number;
  /** Where the next call goes on; null when the end of the table was reached. */
  nextHash: Buffer | null;
}

/**
 * Deletes graphs that nothing refers to, among the next `limit` after `afterHash`: acceptance stores a graph before its
 * run, and may die in between. An hour covers every acceptance that is under way, but not one that has just found an
 * old orphan and counts on it. That one is safe as well: its run locks the graph (then the deletion passes it by, or
 * fails by the foreign key), or finds it gone and stores it again (`isSnapshotGone`).
 */
export async function deleteOrphanedSnapshots(db: Db, afterHash: Buffer | null, limit: number): Promise<SnapshotSweep> {
  const { rows } = await sql<{ deleted: number; looked: number; last: Buffer | null }>`
    WITH looked AS MATERIALIZED (
      SELECT hash, created_at FROM graph_snapshots WHERE hash > ${afterHash ?? Buffer.alloc(0)}
      ORDER BY hash LIMIT ${limit}::integer
    ), orphans AS (
      SELECT graph.hash FROM graph_snapshots graph JOIN looked USING (hash)
      WHERE graph.created_at < now() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM runs WHERE runs.snapshot_hash = graph.hash)
        AND NOT EXISTS (SELECT FROM workflows WHERE workflows.published_snapshot = graph.hash)
      FOR UPDATE OF graph SKIP LOCKED
    ), deleted AS (
      DELETE FROM graph_snapshots WHERE hash IN (SELECT hash FROM orphans) RETURNING hash
    )
    SELECT (SELECT count(*) FROM deleted) AS deleted, (SELECT count(*) FROM looked) AS looked,
      (SELECT hash FROM looked ORDER BY hash DESC LIMIT 1) AS last`.execute(db);
  const { deleted = 0, looked = 0, last = null } = rows[0] ?? {};
  return { deleted, nextHash: looked < limit ? null : last };
}
