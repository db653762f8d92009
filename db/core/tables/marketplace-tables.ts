// Copies of published workflows.
import type { Generated } from 'kysely';
import type { Decimal } from './column-types.js';

/** Writer: the API, one row a copy. The terms are those that the copier saw: a later price is not theirs. */
export interface MarketplaceCopiesTable {
  copy_id: number;
  source_id: number;
  user_id: number;
  run_fee_usd: Decimal;
  free_runs_per_user: number;
  created_at: Generated<Date>;
}

/** Writer: the end of a run. Succeeded runs of a user on all their copies of a source that has a fee. */
export interface MarketplaceUsageTable {
  source_id: number;
  user_id: number;
  succeeded_runs: number;
}
