// The fee for runs of marketplace copies.
import { sql } from 'kysely';
import { isZeroDecimal } from '../../graph/decimal.js';
import type { Db } from '../core/client.js';

interface EndedRun {
  run_id: string;
  project_id: number;
  user_id: number;
  /** Null if the workflow is no copy. The terms are those at the time of copying. */
  source_id: number | null;
  run_fee_usd: string | null;
  free_runs_per_user: number | null;
}

/**
 * Counts a successful run of a copy, and charges its fee if the free runs are used up. Must run in the transaction
 * that ends the run: a run ends once, so it is counted and charged once.
 *
 * The count is the user's over all copies of a source, so a new copy brings no new free runs. Its row stays locked
 * until the commit, so concurrent runs beyond the free ones all pay. The fee's transaction locks the rows of the run
 * and of its project, in that order (`add_transaction_to_sums`).
 */
export async function chargeMarketplaceFee(db: Db, run: EndedRun): Promise<void> {
  if (run.source_id === null || run.run_fee_usd === null || isZeroDecimal(run.run_fee_usd)) return;
  await sql`
    WITH used AS (
      INSERT INTO marketplace_usage AS usage (source_id, user_id, succeeded_runs)
      VALUES (${run.source_id}, ${run.user_id}, 1)
      ON CONFLICT (source_id, user_id) DO UPDATE SET succeeded_runs = usage.succeeded_runs + 1
      RETURNING succeeded_runs
    )
    INSERT INTO billing_transactions
      (run_id, path, node_id, project_id, user_id, operation, status, amount_usd, description)
    SELECT ${run.run_id}, '', '', ${run.project_id}, ${run.user_id}, 'marketplace_fee', 'Succeeded', ${run.run_fee_usd},
      'Marketplace fee'
    FROM used WHERE succeeded_runs > ${run.free_runs_per_user}
    ON CONFLICT (run_id, path, node_id, operation) DO NOTHING`.execute(db);
}
