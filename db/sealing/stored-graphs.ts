// Graphs with credentials, and the runs that get another one in their place. Graphs are named by their hashes and shared,
// so each is replaced for one run after the other.
import { sql } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import type { Database, Db } from '../core/client.js';
import { deleteOrphan } from '../runs/snapshots-repository.js';
import { DUE_BYTES, DUE_ROWS, HAS_HEADERS } from './due-rows.js';

interface GraphToSeal {
  hash: Buffer;
  /** Null where no node has headers. */
  document: Record<string, unknown> | null;
}

/** Returns the next graphs in the order of their hashes. */
export async function readGraphsToSeal(db: Db, after: Buffer): Promise<GraphToSeal[]> {
  const { rows } = await sql<GraphToSeal>`
    WITH page AS (
      SELECT hash, octet_length(document::text) AS bytes FROM graph_snapshots
      WHERE hash > ${after} ORDER BY hash LIMIT ${DUE_ROWS}::integer
    ), due AS (
      SELECT hash, sum(bytes) OVER (ORDER BY hash) - bytes AS bytes_before FROM page
    )
    SELECT hash, CASE WHEN ${HAS_HEADERS} THEN document END AS document
    FROM due JOIN graph_snapshots USING (hash) WHERE bytes_before < ${DUE_BYTES}::integer ORDER BY hash`.execute(db);
  return rows;
}

/** Lists graphs that have to be replaced. */
export async function listUnsealedGraphs(db: Db, hashes: readonly Buffer[]): Promise<void> {
  if (hashes.length === 0) return;
  await db
    .insertInto('unsealed_graphs')
    .values(hashes.map((hash) => ({ hash })))
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
}

export interface UnsealedGraph {
  hash: Buffer;
  document: Record<string, unknown>;
  plan: Plan;
}

/** Returns the next of the listed graphs. */
export async function nextUnsealedGraph(db: Db, after: Buffer): Promise<UnsealedGraph | undefined> {
  const row = await db
    .selectFrom('unsealed_graphs')
    .innerJoin('graph_snapshots', 'graph_snapshots.hash', 'unsealed_graphs.hash')
    .select(['graph_snapshots.hash', 'graph_snapshots.document', 'graph_snapshots.plan'])
    .where('unsealed_graphs.hash', '>', after)
    .orderBy('unsealed_graphs.hash')
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, plan: row.plan as Plan };
}

interface EndedRun {
  id: string;
  projectId: number;
  secretsEnc: Buffer | null;
  /** Whether its secrets have been deleted for ever. */
  isExpired: boolean;
}

/** Returns the next runs of a graph that have ended, in the order of their ids; at most DUE_ROWS. */
export function readEndedRuns(db: Db, hash: Buffer, afterId: string | null): Promise<EndedRun[]> {
  return db
    .selectFrom('runs')
    .select(['id', 'project_id as projectId', 'secrets_enc as secretsEnc'])
    .select(sql<boolean>`results_expired_at IS NOT NULL`.as('isExpired'))
    .where('snapshot_hash', '=', hash)
    .where('status', '<>', 'In Progress')
    .$if(afterId !== null, (ended) => ended.where('id', '>', afterId))
    .orderBy('id')
    .limit(DUE_ROWS)
    .execute();
}

/** Gives a run another graph and what was cut out of the earlier one, if the run is still the one that was read. */
export async function moveRun(
  db: Database,
  { id, secretsEnc, isExpired }: EndedRun,
  to: { from: Buffer; hash: Buffer; secretsEnc: Buffer | null },
): Promise<void> {
  await db
    .updateTable('runs')
    .set({ snapshot_hash: to.hash, secrets_enc: to.secretsEnc })
    .where('id', '=', id)
    .where('snapshot_hash', '=', to.from)
    .where('status', '<>', 'In Progress')
    .where(sql<boolean>`secrets_enc IS NOT DISTINCT FROM ${secretsEnc}`)
    .where(sql<boolean>`(results_expired_at IS NOT NULL) = ${isExpired}`)
    .execute();
}

/**
 * Gives workflows that are published with a graph the other one, and counts the bytes of both for their projects. Deletes
 * the graph if no run refers to it any more, and returns whether it is gone.
 */
export function settleGraph(db: Database, from: Buffer, to: Buffer): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await trx.updateTable('workflows').set({ published_snapshot: to }).where('published_snapshot', '=', from).execute();
    await sql`
      WITH counted AS (
        INSERT INTO stored_graphs (project_id, hash, bytes)
        SELECT DISTINCT runs.project_id, hash, octet_length(document::text)
        FROM graph_snapshots JOIN runs ON runs.snapshot_hash = hash WHERE hash = ${to}
        ON CONFLICT DO NOTHING RETURNING project_id, bytes
      ), gone AS (
        DELETE FROM stored_graphs AS stored WHERE hash = ${from} AND NOT EXISTS (
          SELECT FROM runs WHERE snapshot_hash = ${from} AND runs.project_id = stored.project_id
        ) RETURNING project_id, bytes
      )
      SELECT add_stored_bytes(project_id, bytes, false)
      FROM (SELECT project_id, bytes FROM counted UNION ALL SELECT project_id, -bytes FROM gone) AS changed`.execute(
      trx,
    );
    return deleteOrphan(trx, from);
  });
}
