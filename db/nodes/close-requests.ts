// Closes everything that stopped nodes wait for: human tasks and approval requests expire, callbacks are refused,
// waits for connections and workers end, and the cancellation of child runs is requested. The reconciler's next round
// cancels these child runs in Temporal, and the end of each of them does the same for its own nodes. Rows of runs are
// locked from the top of their tree down: a parent before its children.
import { sql, type RawBuilder } from 'kysely';

/**
 * Members of a statement's WITH list. `which` is a condition on `run_id`, `path` and `node_id` that selects the nodes.
 */
export function closedRequests(which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    closed_tasks AS (
      UPDATE human_tasks SET status = 'expired', settled_at = clock_timestamp() WHERE ${which} AND status = 'pending'
    ), closed_approvals AS (
      UPDATE approval_requests SET status = 'expired', decided_at = clock_timestamp() WHERE ${which} AND status = 'pending'
    ), closed_callbacks AS (
      UPDATE waits SET closed_at = clock_timestamp() WHERE ${which} AND kind IN ('callback', 'connection', 'worker')
        AND closed_at IS NULL
    ), cancelled_children AS (
      UPDATE runs AS child SET cancel_requested_at = coalesce(child.cancel_requested_at, now()), next_check_at = now(),
        check_attempts = 0, updated_at = now()
      FROM waits
      WHERE ${which} AND waits.closed_at IS NULL AND child.id = waits.child_run_id AND child.status = 'In Progress'
    )`;
}
