// What runs execute, frozen: identical drawings share one row. Writer: run acceptance.
import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { Tables } from '../core/tables.js';

/** What a graph is stored under. `document`: JSON text, secrets masked. */
export function hashDrawing(document: string): Buffer {
  return createHash('sha256').update(document).digest();
}

/** What the graph of a test is stored under: its plan is not that of the whole drawing. */
export function hashTest(document: string, plan: Plan): Buffer {
  return createHash('sha256').update('test\0').update(JSON.stringify(plan)).update('\0').update(document).digest();
}

/** Stores the graph unless it is there already; answers its hash. */
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

// The next hash in each index is either the graph's own, or nothing refers to it. So a graph is one step in each index, also
// where the planner takes a reference to be likely and would look for it in the whole table.
const isOrphan = sql<boolean>`graph.hash IS DISTINCT FROM (
    SELECT snapshot_hash FROM runs WHERE snapshot_hash >= graph.hash ORDER BY snapshot_hash LIMIT 1
  ) AND graph.hash IS DISTINCT FROM (
    SELECT published_snapshot FROM workflows
    WHERE published_snapshot >= graph.hash ORDER BY published_snapshot LIMIT 1
  )`;

/**
 * Deletes graphs that nothing refers to, among the next `limit` after `afterHash`: acceptance stores a graph before its
 * run, and may die in between. An hour covers every acceptance that is under way, but not one that has just found an
 * old orphan and counts on it. That one is safe as well: its run locks the graph (then the lock here passes it by), or
 * finds it gone and stores it again (`isSnapshotGone`). The second statement looks for references again, because a run
 * may be stored after the first one has begun and before it locks the graph.
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
