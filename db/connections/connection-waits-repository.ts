// Nodes that wait until somebody has signed in for a connection. A node may wait several times: each wait is a row of
// its own, whose `call` is -1, -2 and so on.
import { sql } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import type { WaitKey } from '../waits/wait-key.js';

interface ConnectionWait {
  connectionId: number;
  /** The end of the wait in milliseconds since the epoch. */
  untilMs: number;
}

/**
 * Starts a wait of the node, or finds the one that an earlier attempt has started, whose end never changes. Returns the
 * end of the wait. Waiting does not count as an attempt. `ready`: the connection needs no sign-in any more, or was
 * deleted. `expired`: the time is over, and the wait has ended. `closed`: the run has ended.
 *
 * The connection's row is locked, so that nobody makes the connection ready between the check of its status and the
 * wait.
 */
export function startConnectionWait(
  db: Db,
  node: NodeKey,
  { connectionId, untilMs }: ConnectionWait,
): Promise<number | 'ready' | 'expired' | 'closed'> {
  const { runId, path, nodeId } = node;
  return inTransaction(db, async (transaction) => {
    await sql`
      UPDATE connections SET grant_lost_at = now()
      WHERE id = ${connectionId} AND status = 'needs_authorization' AND grant_lost_at IS NULL`.execute(transaction);
    const { rows: awaited } = await sql`
      SELECT FROM connections WHERE id = ${connectionId} AND status = 'needs_authorization' FOR SHARE`.execute(
      transaction,
    );
    if (awaited.length === 0) return 'ready';
    const { rows: open } = await sql`
      SELECT FROM runs WHERE id = ${runId} AND status = 'In Progress' FOR KEY SHARE`.execute(transaction);
    if (open.length === 0) return 'closed';
    const { rows } = await sql<{ untilMs: number; isOver: boolean }>`
      WITH expired AS (
        UPDATE waits SET closed_at = clock_timestamp()
        WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND kind = 'connection'
          AND closed_at IS NULL AND until <= clock_timestamp()
        RETURNING until
      ), started AS (
        INSERT INTO waits (run_id, path, node_id, call, kind, connection_id, started_at, until)
        SELECT ${runId}, ${path}, ${nodeId}, least(min(call), 0) - 1, 'connection', ${connectionId}::integer,
          clock_timestamp(), ${new Date(untilMs)}::timestamptz
        FROM waits WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}
        HAVING count(*) FILTER (WHERE kind = 'connection' AND closed_at IS NULL) = 0
        RETURNING until
      ), attempt AS (
        UPDATE node_results SET attempts = attempts - 1
        WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND status = 'in progress' AND attempts > 0
          AND NOT EXISTS (SELECT FROM expired)
      )
      SELECT (extract(epoch FROM until) * 1000)::float8 AS "untilMs", EXISTS (SELECT FROM expired) AS "isOver",
        ${notifyWatchers(runId)}
      FROM (
        SELECT until FROM started
        UNION ALL
        SELECT until FROM waits WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}
          AND kind = 'connection' AND closed_at IS NULL
      ) AS wait`.execute(transaction);
    return rows[0]!.isOver ? 'expired' : rows[0]!.untilMs;
  });
}

/**
 * Ends the waits for a connection, in the transaction that makes it ready or deletes it. Returns the waits, whose runs
 * the caller may wake at once (acceptance/wake-run.ts). The reconciler wakes the runs that nobody has woken.
 */
export async function endConnectionWaits(transaction: Db, connectionId: number): Promise<WaitKey[]> {
  const { rows } = await sql<WaitKey>`
    UPDATE waits SET answered_at = clock_timestamp(), closed_at = clock_timestamp()
    WHERE connection_id = ${connectionId} AND kind = 'connection' AND closed_at IS NULL
    RETURNING run_id AS "runId", path, node_id AS "nodeId", call, ${notifyWatchers(sql`run_id`)}`.execute(transaction);
  return rows;
}
