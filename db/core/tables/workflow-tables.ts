// Drawings, the catalog that they are found in, and the figures of each workflow.
import type { ColumnType, Generated } from 'kysely';
import type { Decimal, Json, Timestamp } from './column-types.js';

/** Writer: the API. */
export interface WorkflowsTable {
  id: Generated<number>;
  project_id: number;
  author_id: number;
  title: string;
  /** Position in the project, from 1. */
  sort_id: number;
  /** The drawing as it leaves the service: every secret in it is already `********`. */
  document: Json<Record<string, unknown>>;
  /** The secrets cut out of `document`, sealed (`graph/secrets.ts` names the places). */
  secrets_enc: Buffer | null;
  /** The version of the drawing, from 1, which rises with each change of what it runs. */
  version: Generated<number>;
  /** The user who made the version; null for the workflow's author. */
  version_author_id: number | null;
  version_created_at: Generated<Date>;
  /** The number rises with each change of the record, its position in the project excepted. It is the `ETag`. */
  revision: Generated<number>;
  market_title: Generated<string>;
  short_description: Generated<string>;
  available_languages: Generated<string[]>;
  readme_guide: Generated<string>;
  run_fee_usd: Decimal;
  free_runs_per_user: Generated<number>;
  /**
   * The most that a run and the runs below it may cost; null if there is no limit. Duplicates have it, copies from the
   * marketplace have not.
   */
  max_run_cost_usd: Decimal | null;
  is_published: Generated<boolean>;
  slug: string | null;
  /** True if MCP clients are offered it as a tool. */
  is_tool: Generated<boolean>;
  /** True if people and chat clients may talk to it. */
  is_chat: Generated<boolean>;
  /** The `input_fields` of a tool's trigger, as they are in `document`; null where they are too large to be listed. */
  tool_fields: Json<unknown> | null;
  /** The connections that `document` names. */
  connection_ids: Generated<number[]>;
  copied_from: number | null;
  first_published_at: Date | null;
  last_published_at: Date | null;
  /** The template run's drawing as it was published: what copies are made of. */
  published_snapshot: Buffer | null;
  created_at: Generated<Date>;
  updated_at: Timestamp;
  archived_at: Date | null;
}

/** Writer: the API. The versions of a drawing before the present one, which is in `workflows`. Immutable. */
export interface WorkflowVersionsTable {
  workflow_id: number;
  version: number;
  author_id: number;
  /** Secrets masked, as it was when the next version took its place. */
  document: Json<Record<string, unknown>>;
  secrets_enc: Buffer | null;
  created_at: Date;
}

/** Writer: run acceptance in the API. Immutable; identical graphs share one row. */
export interface GraphSnapshotsTable {
  /** SHA-256 of the document's JSON text. */
  hash: Buffer;
  document: Json<Record<string, unknown>>;
  /** `Plan` of graph/plan.ts. */
  plan: Json<unknown>;
  created_at: Generated<Date>;
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

/**
 * A view: `workflow_totals` and what has changed since they were last added up (`workflow_changes`, whose writers are
 * triggers on `runs` and `billing_transactions`). `Draft` runs are
 * recorded, and count nowhere else.
 */
export interface WorkflowStatisticsTable {
  workflow_id: ColumnType<number, never, never>;
  /** All runs that were ever inserted, drafts too; none is ever deleted. */
  recorded_count: ColumnType<number, never, never>;
  run_count: ColumnType<number, never, never>;
  /** Runs that have a duration. */
  finished_count: ColumnType<number, never, never>;
  total_duration_seconds: ColumnType<string, never, never>;
  total_cost_usd: ColumnType<string, never, never>;
  last_run_id: ColumnType<string | null, never, never>;
  last_run_at: ColumnType<Date | null, never, never>;
}
