// The failed attempts of a node before its last one. A node that needs one attempt has no row here and
// costs no statement.
import { sql } from 'kysely';
import { keyColumns } from './key-columns.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';

export interface EndedAttempt extends NodeKey {
  /** Numbered from 1, like `NodeClaim.attempts`. */
  number: number;
  /** Used to compute the start of the attempt if a later attempt has already overwritten it in the node's row. */
  tookMs: number;
  code: string;
  /** Secrets masked. */
  message: string;
}

/**
 * Stores a failed attempt that will be retried. If the next attempt has already recorded this one as `worker_lost`
 * (`keep_lost_attempt`), the attempt's own error replaces that, because its worker is alive. Changes nothing if the
 * node has ended or is unknown.
 */
export async function recordEndedAttempt(db: Db, ended: EndedAttempt): Promise<void> {
  await sql`
    INSERT INTO node_attempts AS kept (run_id, path, node_id, number, started_at, finished_at, error_code, error_message, step)
    SELECT run_id, path, node_id, ${ended.number}::integer,
      CASE WHEN attempts = ${ended.number}::integer THEN coalesce(attempt_started_at, started_at)
        ELSE clock_timestamp() - make_interval(secs => ${ended.tookMs / 1000}) END,
      clock_timestamp(), ${ended.code}, ${ended.message}, step
    FROM node_results
    WHERE run_id = ${ended.runId} AND path = ${ended.path} AND node_id = ${ended.nodeId} AND status = 'in progress'
    ON CONFLICT (run_id, path, node_id, number) DO UPDATE SET
      finished_at = excluded.finished_at, error_code = excluded.error_code, error_message = excluded.error_message,
      worker = NULL
    WHERE kept.error_code = 'worker_lost'`.execute(db);
}

/** Returns how many attempts at the node's present step have failed with one of these codes. */
export async function countStepFailures(db: Db, { runId, path, nodeId }: NodeKey, codes: string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM node_attempts AS attempt
    JOIN node_results AS node ON node.run_id = attempt.run_id AND node.path = attempt.path AND node.node_id = attempt.node_id
    WHERE attempt.run_id = ${runId} AND attempt.path = ${path} AND attempt.node_id = ${nodeId}
      AND attempt.step IS NOT DISTINCT FROM node.step AND attempt.error_code = ANY (${codes}::text[])`.execute(db);
  return rows[0]!.count;
}

export interface Deaths {
  count: number;
  /** The sum of the node's shares in these deaths, which decides whether the node is retried. */
  shares: number;
  sinceMs: number;
}

/**
 * Returns the deaths of workers during this step of the node. The node's share in a death is one divided by the number
 * of nodes that were lost with the worker. If the node was isolated, which means that at most a few such nodes ran on
 * its worker (docs/adr/0030-deaths-of-workers.md), the nodes that were not isolated are left out of the number. The
 * number is complete once the other nodes have been claimed again, within seconds.
 */
export async function readDeaths(db: Db, key: NodeKey, step: string | null): Promise<Deaths> {
  const { rows } = await sql<Deaths>`
    SELECT count(*)::integer AS count, coalesce(sum(1.0 / lost.nodes), 0)::float8 AS shares,
      (coalesce(extract(epoch FROM clock_timestamp() - max(finished_at)), 0) * 1000)::float8 AS "sinceMs"
    FROM node_attempts AS own CROSS JOIN LATERAL (
      SELECT count(*) AS nodes FROM node_attempts AS other
      WHERE other.worker = own.worker AND (other.was_isolated OR NOT own.was_isolated)
    ) AS lost
    WHERE run_id = ${key.runId} AND path = ${key.path} AND node_id = ${key.nodeId}
      AND step IS NOT DISTINCT FROM ${step} AND worker IS NOT NULL`.execute(db);
  return rows[0]!;
}

export interface StoredAttempt {
  number: number;
  startedAt: Date;
  finishedAt: Date;
  code: string;
  message: string | null;
}

/** Returns the newest `limit` attempts in ascending order. */
export async function listStoredAttempts(db: Db, key: NodeKey, limit: number): Promise<StoredAttempt[]> {
  const newest = await db
    .selectFrom('node_attempts')
    .select(['number', 'started_at as startedAt', 'finished_at as finishedAt'])
    .select(['error_code as code', 'error_message as message'])
    .where((row) => row.and(keyColumns(key)))
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
  return newest.toReversed();
}
