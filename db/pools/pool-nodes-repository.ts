// Nodes that are due in a pool, and their waits for a worker (docs/operate/pools.md).
import { sql, type RawBuilder } from 'kysely';
import { DEFAULT_POOL, type ProjectPools } from '../../graph/pools.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import { isLiving, isGone, isServed } from './workers-repository.js';

/** Returns undefined if the run is not open. */
export async function findPoolsOfRun(db: Db, runId: string): Promise<ProjectPools | undefined> {
  const { rows } = await sql<ProjectPools>`
    SELECT project.pool, project.pools FROM runs AS run JOIN projects AS project ON project.id = run.project_id
    WHERE run.id = ${runId} AND run.status = 'In Progress'`.execute(db);
  return rows[0];
}

export async function findPoolsOfProject(db: Db, projectId: number): Promise<ProjectPools> {
  const project = await db
    .selectFrom('projects')
    .select(['pool', 'pools'])
    .where('id', '=', projectId)
    .executeTakeFirst();
  return project ?? { pool: null, pools: [] };
}

interface Due {
  pool: string;
  /** The build of the worker that decides in which pool the node is due; null if that worker is unversioned. */
  buildId: string | null;
}

/**
 * Stores that the nodes are in progress and due in the pool, so that readers see them while no worker has taken them.
 * May be repeated: the time at which the nodes are due is then that of the last call. Call it again for each step of a
 * node that has been claimed. Returns false if the run is not open.
 */
export async function addPoolNodes(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: readonly string[],
  { pool, buildId }: Due,
): Promise<boolean> {
  const { rows } = await sql`
    WITH open_run AS (
      SELECT id FROM runs WHERE id = ${runId} AND status = 'In Progress' FOR KEY SHARE
    ), due AS (
      INSERT INTO pool_nodes (run_id, path, node_id, pool, build_id)
      SELECT id, ${path}, node_id, ${pool}, ${buildId} FROM open_run, unnest(${nodeIds}::text[]) AS node_id
      ON CONFLICT (run_id, path, node_id) DO UPDATE
        SET pool = excluded.pool, build_id = excluded.build_id, due_at = excluded.due_at
    ), started AS (
      INSERT INTO node_results AS node (run_id, path, node_id, status, attempts)
      SELECT id, ${path}, node_id, 'in progress', 0 FROM open_run, unnest(${nodeIds}::text[]) AS node_id
      ON CONFLICT (run_id, path, node_id) DO UPDATE SET worker = NULL
        WHERE node.status = 'in progress' AND node.worker IS NOT NULL
    )
    SELECT id, ${notifyWatchers(runId)} FROM open_run`.execute(db);
  return rows.length > 0;
}

/** Ends the waits of these nodes for a worker. Called when a worker has taken the nodes. */
export async function endWorkerWaits(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: readonly string[],
): Promise<void> {
  await sql`
    UPDATE waits SET closed_at = clock_timestamp()
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ANY (${nodeIds}::text[]) AND call < 0 AND kind = 'worker'
      AND closed_at IS NULL
    RETURNING ${notifyWatchers(runId)}`.execute(db);
}

/**
 * A node waits for a worker after it has been due for this time, and its pool has had no living worker during this
 * time.
 */
const DUE_FOR_S = 5;
/** A bound for one statement; the next round does the rest. */
const BATCH = 500;

/** True if no worker has taken the node (a row of `node_results` with the alias `node`), or if that worker is gone. */
const hasNoLivingWorker = sql`NOT EXISTS (SELECT FROM workers AS taker WHERE taker.id = node.worker AND NOT ${isGone(sql`taker`)})`;

/**
 * True for loops and their iterations, which need no worker, and for a node that waits for something else or, in the
 * first minute after a failed attempt, for its next attempt. Of the rows of `waits`, only those count for which
 * `isOther` holds.
 */
const waitsForOther = (isOther: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  node.iterations IS NOT NULL OR node.is_iteration
  OR EXISTS (
    SELECT FROM waits WHERE waits.run_id = node.run_id AND waits.path = node.path AND waits.node_id = node.node_id
      AND waits.closed_at IS NULL AND waits.answered_at IS NULL AND waits.until > now()
      AND (waits.call <= 0 OR node.step LIKE '%/left') AND ${isOther})
  OR EXISTS (
    SELECT FROM approval_requests AS request
    WHERE request.run_id = node.run_id AND request.path = node.path AND request.node_id = node.node_id
      AND request.status = 'pending')
  OR EXISTS (
    SELECT FROM node_attempts AS attempt
    WHERE attempt.run_id = node.run_id AND attempt.path = node.path AND attempt.node_id = node.node_id
      AND attempt.number = node.attempts AND attempt.error_code NOT IN ('worker_lost', 'worker_shutdown')
      AND attempt.finished_at > now() - interval '1 minute'))`;

/** A node that waits for a worker already starts no second wait for one. */
const isWaiting = waitsForOther(sql`true`);

/**
 * Starts the waits of nodes that are due or were left by a dead worker, and for which no worker of their pool and build
 * is living (`isServed`). Several processes may do this at the same time. Returns the number of started waits.
 */
export async function startWorkerWaits(db: Db): Promise<number> {
  const inQueue = await startWaits(
    db,
    sql`
    SELECT node.run_id, node.path, node.node_id, due.pool
    FROM pool_nodes AS due JOIN node_results AS node USING (run_id, path, node_id)
    WHERE due.due_at <= now() - make_interval(secs => ${DUE_FOR_S}) AND node.status = 'in progress'
      AND NOT ${isServed(sql`due.pool`, sql`due.build_id`, DUE_FOR_S)} AND ${hasNoLivingWorker} AND NOT ${isWaiting}`,
  );
  // A node whose worker died is due again in the pool of that worker. Nodes of workers that died long ago wait already,
  // and a search for them would read all nodes of open runs in each round.
  const left = await startWaits(
    db,
    sql`
    SELECT node.run_id, node.path, node.node_id, lost.pool
    FROM (
      SELECT id, pool FROM workers WHERE ${isGone(sql`workers`)} AND seen_at > now() - interval '1 hour'
        AND NOT ${isServed(sql`workers.pool`, sql`workers.build_id`, DUE_FOR_S)}
    ) AS lost JOIN node_results AS node ON node.worker = lost.id AND node.status = 'in progress'
      AND node.run_id IN (SELECT id FROM runs WHERE status = 'In Progress' AND next_check_at IS NOT NULL)
    WHERE NOT ${isWaiting}`,
  );
  return inQueue + left;
}

async function startWaits(db: Db, nodes: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql`
    WITH due AS MATERIALIZED (${nodes} LIMIT ${sql.lit(BATCH)}), open AS (
      SELECT id FROM runs WHERE id IN (SELECT run_id FROM due) AND status = 'In Progress' ORDER BY id
      FOR NO KEY UPDATE SKIP LOCKED
    ), watched AS (
      UPDATE runs SET is_plain = false WHERE id IN (SELECT id FROM open) AND is_plain
    )
    INSERT INTO waits (run_id, path, node_id, call, kind, pool, started_at, until)
    SELECT due.run_id, due.path, due.node_id,
      (SELECT least(min(call), 0) - 1 FROM waits
        WHERE waits.run_id = due.run_id AND waits.path = due.path AND waits.node_id = due.node_id),
      'worker', due.pool, clock_timestamp(), 'infinity'
    FROM due JOIN open ON open.id = due.run_id
    ON CONFLICT DO NOTHING
    RETURNING ${notifyWatchers(sql`run_id`)}`.execute(db);
  return rows.length;
}

/**
 * Ends waits whose pool has a worker again, and those of nodes that are not in progress any more. The worker must be of
 * the build that `pool_nodes` has for the node. If `pool_nodes` has none, as for nodes of the default pool, the worker
 * must be of the build of the worker that took the node. If that build is unknown too, any worker of the pool will do.
 */
export async function endServedWaits(db: Db): Promise<void> {
  await sql`
    WITH served AS MATERIALIZED (
      SELECT run_id, path, node_id, call FROM waits
      WHERE kind = 'worker' AND closed_at IS NULL AND (
        ${isServed(
          sql`waits.pool`,
          sql`coalesce(
            (SELECT due.build_id FROM pool_nodes AS due WHERE due.run_id = waits.run_id AND due.path = waits.path
              AND due.node_id = waits.node_id),
            (SELECT taker.build_id FROM node_results AS node JOIN workers AS taker ON taker.id = node.worker
              WHERE node.run_id = waits.run_id AND node.path = waits.path AND node.node_id = waits.node_id))`,
        )}
        OR EXISTS (SELECT FROM node_results AS node WHERE node.run_id = waits.run_id AND node.path = waits.path
          AND node.node_id = waits.node_id AND node.status <> 'in progress'))
      LIMIT ${sql.lit(BATCH)}
    )
    UPDATE waits SET closed_at = clock_timestamp() FROM served
    WHERE waits.run_id = served.run_id AND waits.path = served.path AND waits.node_id = served.node_id
      AND waits.call = served.call AND waits.closed_at IS NULL
    RETURNING ${notifyWatchers(sql`waits.run_id`)}`.execute(db);
}

/** Deletes due nodes that have ended. Returns true if there may be more. */
export async function sweepPoolNodes(db: Db): Promise<boolean> {
  const { rows } = await sql`
    DELETE FROM pool_nodes WHERE ctid = ANY (ARRAY(
      SELECT due.ctid FROM pool_nodes AS due
      WHERE NOT EXISTS (
        SELECT FROM node_results AS node WHERE node.run_id = due.run_id AND node.path = due.path
          AND node.node_id = due.node_id AND node.status = 'in progress')
      LIMIT ${sql.lit(BATCH)} FOR UPDATE SKIP LOCKED))
    RETURNING run_id`.execute(db);
  return rows.length === BATCH;
}

export interface PoolFigures {
  name: string;
  /** The number of living workers (`isLiving`). */
  workers: number;
  /** The builds of these workers. */
  buildIds: string[];
  /**
   * Nodes that are due, and that no living worker has. Of the default pool, only those that wait for a worker. A node
   * that waits for something else, such as an approval, is not due.
   */
  backlog: number;
  /** For how long the oldest node of the backlog has been due; 0 if there is none. */
  oldestSeconds: number;
}

/** Returns the default pool, and each pool that has a worker, that a project names, or in which a node is due. */
export async function readPools(db: Db): Promise<PoolFigures[]> {
  const { rows } = await sql<PoolFigures>`
    WITH living AS (
      SELECT pool, count(*)::integer AS workers,
        array_agg(DISTINCT build_id ORDER BY build_id) FILTER (WHERE build_id IS NOT NULL) AS builds
      FROM workers WHERE ${isLiving(sql`workers`)} GROUP BY pool
    ), due AS (
      SELECT pool, count(*)::integer AS backlog, extract(epoch FROM now() - min(since))::float8 AS oldest FROM (
        SELECT due.pool, due.due_at AS since
        FROM pool_nodes AS due JOIN node_results AS node USING (run_id, path, node_id)
        WHERE node.status = 'in progress' AND ${hasNoLivingWorker}
          AND NOT ${waitsForOther(sql`waits.kind <> 'worker'`)}
        UNION ALL
        SELECT pool, started_at FROM waits WHERE kind = 'worker' AND closed_at IS NULL AND pool = ${DEFAULT_POOL}
      ) AS node GROUP BY pool
    ), named AS (
      SELECT ${DEFAULT_POOL} AS pool
      UNION SELECT pool FROM living
      UNION SELECT pool FROM due
      UNION SELECT pool FROM projects WHERE pool IS NOT NULL AND deleted_at IS NULL
      UNION SELECT unnest(pools) FROM projects WHERE pools <> '{}' AND deleted_at IS NULL
    )
    SELECT pool AS name, coalesce(workers, 0) AS workers, coalesce(builds, '{}') AS "buildIds",
      coalesce(backlog, 0) AS backlog, greatest(0, coalesce(oldest, 0)) AS "oldestSeconds"
    FROM named LEFT JOIN living USING (pool) LEFT JOIN due USING (pool) ORDER BY pool <> ${DEFAULT_POOL}, pool`.execute(
    db,
  );
  return rows;
}
