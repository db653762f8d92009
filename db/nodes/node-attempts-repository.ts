// The attempts of a node before its last one. A node that needs one attempt has none here and costs no statement.
import { sql } from 'kysely';
import { keyColumns } from './key-columns.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';

export interface EndedAttempt extends NodeKey {
  /** The number of the attempt, as `NodeClaim.attempts` counts. */
  number: number;
  /** Counts where the node's row tells the beginning of another attempt by now. */
  tookMs: number;
  code: string;
  /** Secrets masked. */
  message: string;
}

/**
 * Keeps an attempt that has ended and will be followed by another one. What an attempt says of itself counts more than
 * what the next one has made of its silence (`keep_lost_attempt`). A node that has settled, or is unknown, stays as it is.
 */
export async function keepEndedAttempt(db: Db, ended: EndedAttempt): Promise<void> {
  await sql`
    INSERT INTO node_attempts AS kept (run_id, path, node_id, number, started_at, finished_at, error_code, error_message)
    SELECT run_id, path, node_id, ${ended.number}::integer,
      CASE WHEN attempts = ${ended.number}::integer THEN coalesce(attempt_started_at, started_at)
        ELSE clock_timestamp() - make_interval(secs => ${ended.tookMs / 1000}) END,
      clock_timestamp(), ${ended.code}, ${ended.message}
    FROM node_results
    WHERE run_id = ${ended.runId} AND path = ${ended.path} AND node_id = ${ended.nodeId} AND status = 'in progress'
    ON CONFLICT (run_id, path, node_id, number) DO UPDATE SET
      finished_at = excluded.finished_at, error_code = excluded.error_code, error_message = excluded.error_message
    WHERE kept.error_code = 'worker_lost'`.execute(db);
}

export interface KeptAttempt {
  number: number;
  startedAt: Date;
  finishedAt: Date;
  code: string;
  message: string | null;
}

/** The newest ones, in their order. */
export async function listKeptAttempts(db: Db, key: NodeKey, limit: number): Promise<KeptAttempt[]> {
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
