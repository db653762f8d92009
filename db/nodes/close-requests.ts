// The human tasks and approval requests of nodes that are stopped expire, their callbacks are refused from then on, nobody waits for their connections, and
// the runs that they await are asked to stop. The reconciler's next round tells Temporal so, and the end of such a run
// does the same for the runs below it. Rows of runs are locked in the order of their tree: a run before those that it
// has started.
import { sql, type RawBuilder } from 'kysely';

/**
 * Members of a statement's WITH list. `which`: a condition on `run_id`, `path` and `node_id`, by which the nodes are
 * chosen.
 */
export function closedRequests(which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    closed_tasks AS (
      UPDATE human_tasks SET status = 'expired', settled_at = clock_timestamp() WHERE ${which} AND status = 'pending'
    ), closed_approvals AS (
      UPDATE approval_requests SET status = 'expired', decided_at = clock_timestamp() WHERE ${which} AND status = 'pending'
    ), closed_callbacks AS (
      UPDATE waits SET closed_at = clock_timestamp() WHERE ${which} AND kind IN ('callback', 'connection')
        AND closed_at IS NULL
    ), cancelled_children AS (
      UPDATE runs AS child SET cancel_requested_at = coalesce(child.cancel_requested_at, now()), next_check_at = now(),
        check_attempts = 0, updated_at = now()
      FROM waits
      WHERE ${which} AND waits.closed_at IS NULL AND child.id = waits.child_run_id AND child.status = 'In Progress'
    )`;
}
