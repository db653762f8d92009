// The statistics of workflows: folds the changes that runs have added since the last time into the totals.
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { FOLDED_AT_ONCE, foldAll } from '../core/fold-changes.js';

/**
 * Folds all committed changes. Each statement deletes changes and adds them to the totals, so that the sum of both,
 * which readers see (`workflow_statistics`), stays the same after a crash. Does nothing while another process is
 * folding (ADR 8).
 */
export function foldWorkflowChanges(db: Database, stopped?: AbortSignal): Promise<void> {
  return foldAll(db, 'workflow-changes', foldSome, stopped);
}

async function foldSome(trx: Db): Promise<number> {
  const { rows } = await sql<{ folded: number }>`
    WITH taken AS (
      DELETE FROM workflow_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM workflow_changes LIMIT ${FOLDED_AT_ONCE}))
      RETURNING *
    ), added AS (
      SELECT workflow_id, sum(recorded_count) AS recorded, sum(run_count) AS runs, sum(finished_count) AS finished,
        sum(duration_seconds) AS duration, sum(cost_usd) AS cost,
        (array_agg(last_run_id ORDER BY last_run_at DESC, last_run_id DESC)
          FILTER (WHERE last_run_at IS NOT NULL))[1] AS last_id,
        max(last_run_at) AS last_at
      FROM taken GROUP BY workflow_id
    ), folded AS (
      UPDATE workflow_totals AS kept SET
        recorded_count = kept.recorded_count + added.recorded,
        run_count = kept.run_count + added.runs,
        finished_count = kept.finished_count + added.finished,
        total_duration_seconds = kept.total_duration_seconds + added.duration,
        total_cost_usd = kept.total_cost_usd + added.cost,
        last_run_id = CASE WHEN added.last_at >= kept.last_run_at OR kept.last_run_at IS NULL
          THEN added.last_id ELSE kept.last_run_id END,
        last_run_at = greatest(kept.last_run_at, added.last_at)
      FROM added WHERE kept.workflow_id = added.workflow_id
    )
    SELECT count(*)::integer AS folded FROM taken`.execute(trx);
  return rows[0]?.folded ?? 0;
}
