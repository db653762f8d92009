// Frozen graphs that runs execute. Identical drawings share a row. Writer: run acceptance.
import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { Tables } from '../core/tables.js';

/** The key of a graph. `document` is JSON text with secrets masked. */
export function hashDrawing(document: string): Buffer {
  return createHash('sha256').update(document).digest();
}

/** The key of a test's graph, which includes the plan because a test may execute only a part of the drawing. */
export function hashTest(document: string, plan: Plan): Buffer {
  return createHash('sha256').update('test\0').update(JSON.stringify(plan)).update('\0').update(document).digest();
}

/** Stores the graph unless it is stored already, and returns its hash. */
export async function storeSnapshot(
  db: Db,
  document: string,
  plan: Plan,
  hash = hashDrawing(document),
): Promise<Buffer> {
  await db
    .insertInto('graph_snapshots')
    .values({ hash, document, plan: JSON.stringify(plan) })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  return hash;
}

/** True if the graph was deleted after it was stored and before its run was inserted. */
export function isSnapshotGone(error: unknown): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === '23503' && constraint === 'runs_snapshot_hash_fkey';
}

export interface SnapshotSweep {
  deleted: number;
  /** The start of the next call; null at the end of the table. */
  nextHash: Buffer | null;
}

// Each subquery reads the first hash of an index from the graph's hash on. If that is another hash, nothing refers to
// the graph. So a graph takes one step in each index, even if the planner expects many references and would scan the
// whole table.
const isOrphan = sql<boolean>`graph.hash IS DISTINCT FROM (
    SELECT snapshot_hash FROM runs WHERE snapshot_hash >= graph.hash ORDER BY snapshot_hash LIMIT 1
  ) AND graph.hash IS DISTINCT FROM (
    SELECT published_snapshot FROM workflows
    WHERE published_snapshot >= graph.hash ORDER BY published_snapshot LIMIT 1
  )`;

/**
 * Deletes unreferenced graphs among the next `limit` after `afterHash`. A graph may be unreferenced because acceptance
 * stores it before its run and may fail in between, or because a queued run gets another graph when it is started.
 *
 * Graphs younger than an hour are left for acceptances under way. An acceptance that reuses an older orphan is safe
 * too: if its run locks the graph first, the deletion skips the graph; otherwise the run finds the graph gone, and the
 * acceptance stores it again (`isSnapshotGone`). The deletion checks for references again, because a run may be stored
 * after the locking statement has checked them and before that statement locks the graph.
 */
export async function deleteOrphanedSnapshots(
  trx: Transaction<Tables>,
  afterHash: Buffer | null,
  limit: number,
): Promise<SnapshotSweep> {
  const looked = await trx
    .selectFrom('graph_snapshots')
    .select(['hash', sql<boolean>`created_at < now() - interval '1 hour'`.as('is_old')])
    .where('hash', '>', afterHash ?? Buffer.alloc(0))
    .orderBy('hash')
    .limit(limit)
    .execute();
  const old = looked.filter(({ is_old }) => is_old).map(({ hash }) => hash);
  const { rows: locked } = await sql<{ hash: Buffer }>`
    SELECT hash FROM graph_snapshots graph WHERE hash = ANY (${old}) AND ${isOrphan} FOR UPDATE SKIP LOCKED`.execute(
    trx,
  );
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM graph_snapshots graph
    WHERE hash = ANY (${locked.map(({ hash }) => hash)}) AND ${isOrphan}`.execute(trx);
  const last = looked.length < limit ? null : (looked.at(-1)?.hash ?? null);
  return { deleted: Number(numAffectedRows), nextHash: last };
}
