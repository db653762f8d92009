// The progress of a loop for readers.
import { sql, type RawBuilder } from 'kysely';

export interface IterationCounts {
  total: number;
  succeeded: number;
  failed: number;
  in_progress: number;
}

/** JSON of `IterationCounts` if the row `node` of `node_results` is a loop; null for other nodes. */
export const iterationCounts: RawBuilder<unknown> = sql`CASE WHEN node.iterations IS NOT NULL THEN (
  SELECT json_build_object('total', greatest(node.iterations, started), 'succeeded', ended - failed, 'failed', failed,
    'in_progress', started - ended)
  FROM (
    SELECT coalesce(count_indexes(range_agg(progress.started)), 0) AS started,
      coalesce(count_indexes(range_agg(progress.ended)), 0) AS ended, coalesce(sum(progress.failed), 0) AS failed
    FROM loop_progress AS progress
    WHERE progress.run_id = node.run_id AND progress.path = node.path AND progress.node_id = node.node_id
  ) AS counted
) END`;
