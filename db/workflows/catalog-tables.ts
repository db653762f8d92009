// The tables of the catalog, the marketplace and their figures; `tables.ts` has the rules.
import type { ColumnType, Generated } from 'kysely';
import type { Decimal } from '../core/column-types.js';

/** A view of `workflow_statistics`. */
export interface WorkflowRunCountsTable {
  workflow_id: ColumnType<number, never, never>;
  total: ColumnType<number, never, never>;
}

/** Writer: `admin`. A category with a parent is a subcategory; there is no third level. */
export interface CategoriesTable {
  id: Generated<number>;
  name: string;
  parent_id: number | null;
  created_at: Generated<Date>;
}

/** Writer: the API. */
export interface WorkflowCategoriesTable {
  workflow_id: number;
  category_id: number;
}

/** Writer: the API. */
export interface BookmarksTable {
  user_id: number;
  workflow_id: number;
  created_at: Generated<Date>;
}

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

/**
 * A view: `workflow_totals` and what has changed since they were last added up (`workflow_changes`, whose writers are
 * triggers on `runs` and `billing_transactions`). `Draft` runs do not count.
 */
export interface WorkflowStatisticsTable {
  workflow_id: ColumnType<number, never, never>;
  run_count: ColumnType<number, never, never>;
  /** Runs that have a duration. */
  finished_count: ColumnType<number, never, never>;
  total_duration_seconds: ColumnType<string, never, never>;
  total_cost_usd: ColumnType<string, never, never>;
  last_run_id: ColumnType<string | null, never, never>;
  last_run_at: ColumnType<Date | null, never, never>;
}
