// Test runs, the results that they are given, and the pins of workflows. Extensions, section 11.
import type { Generated } from 'kysely';
import type { Json } from './column-types.js';

/** Writer: the acceptance of test runs. */
export interface TestRunsTable {
  run_id: string;
  mode: 'node' | 'up_to' | 'from' | 'case';
  /** The node that is tried. */
  node_id: string;
  /** Whether waits for a time are over at once, delays between attempts among them. */
  skips_waits: boolean;
}

/** Writer: the acceptance of test runs; retention deletes what has expired. */
export interface GivenResultsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`), or `*` for all. */
  path: string;
  node_id: string;
  source: 'mock' | 'pin';
  /** Whether the node of a pin, or something before it, has changed since it was pinned. */
  is_stale: boolean;
  /** A `GivenOutcome` as JSON, sealed. */
  outcome_enc: Buffer;
}

/** Writer: the API. */
export interface PinsTable {
  workflow_id: number;
  path: string;
  node_id: string;
  /** A `GivenOutcome` with secrets masked. */
  outcome: Json<Record<string, unknown>>;
  /** A `StoredPin` as JSON, sealed. */
  pin_enc: Buffer;
  source_run: string | null;
  updated_by: number;
  updated_at: Generated<Date>;
}

/** Writer: the API. */
export interface CasesTable {
  id: Generated<number>;
  workflow_id: number;
  name: string;
  /** A `CaseContent` as JSON, sealed. */
  content_enc: Buffer;
  is_required: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** Writer: the API. Cases that were started together. */
export interface CaseRunsTable {
  id: string;
  workflow_id: number;
  user_id: number;
  status: Generated<'in progress' | 'passed' | 'failed'>;
  /** A `TriedDrawing` as JSON, sealed. */
  drawing_enc: Buffer;
  max_cost_usd: string | null;
  is_cancelled: Generated<boolean>;
  /** Writer: the function `refuse_in_cases`. A call was not made, because it could have passed `max_cost_usd`. */
  has_reached_limit: Generated<boolean>;
  created_at: Generated<Date>;
  finished_at: Date | null;
}

/** Writer: the API. */
export interface CaseResultsTable {
  case_run_id: string;
  case_id: number;
  /** Null where no run could be started. */
  run_id: string | null;
  status: Generated<'in progress' | 'passed' | 'failed' | 'error'>;
  /** A `CaseDetail` as JSON, sealed. */
  detail_enc: Buffer;
}
