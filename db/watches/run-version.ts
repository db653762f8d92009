// The version of a run: a count of its visible changes (ADR 16).
import { sql, type RawBuilder } from 'kysely';
import type { StoredRunStatus } from '../core/tables.js';

/**
 * Each visible change adds one step:
 * - the acceptance, start and end of the run;
 * - the start and end of a node or an iteration (both at once if the start was not stored separately);
 * - an approval or human task that is requested or settled, and each decision or answer that counts but does not
 *   settle it;
 * - the start and end of a wait for a connection, for a worker, or of a tool call for its child run;
 * - the deletion of a file of an ended run.
 *
 * No writer stores the version. Each reader counts it in its own snapshot (`run_changes` in db/routines/loops.sql), and
 * later commits only add to it, in whatever order they come.
 *
 * A step is a million, so that the events of a stream get their own numbers between the versions of two polls
 * (`order_run_events`, which counts with the same function).
 */
export const VERSION_STEP = 1_000_000;

// A file that a run in flight refers to cannot be deleted, so only ended runs count deletions.
const deletedFiles = sql`CASE WHEN run.status = 'In Progress' THEN 0 ELSE (
  SELECT count(*)::integer FROM file_references AS held JOIN files ON files.id = held.file_id AND files.copy_id IS NULL
  WHERE held.kind = 'run' AND held.holder = run.id::text) END`;

/** The columns of a `VersionRow` of the run with the alias `run`, except `changes` and `overdue`. */
export const countedOfRun: RawBuilder<unknown> = sql`run.status AS run_status,
  run.run_started_at IS NOT NULL AS is_started, ${deletedFiles} AS deleted_files`;

/**
 * A subquery for the changes of the run with the alias `run`. It has no row if the run is plain (`runs.is_plain`);
 * because of OFFSET, PostgreSQL does not call `run_changes` then. `changed_at` is the last start or end of a node,
 * without those in ended iterations.
 */
export const changesUnlessPlain: RawBuilder<unknown> = sql`(
  SELECT changes, overdue, changed_at FROM run_changes(run.id) WHERE NOT run.is_plain OFFSET 0)`;

const changesIfPlain = sql`(
  SELECT count(*) + count(*) FILTER (WHERE status <> 'in progress') AS changes,
    max(greatest(started_at, finished_at)) AS changed_at
  FROM node_results WHERE run_id = run.id AND path = '' AND run.is_plain)`;

/** The join of the changes to the run with the alias `run`. */
export const changesJoin: RawBuilder<unknown> = sql`CROSS JOIN LATERAL ${changesIfPlain} AS plain
  LEFT JOIN LATERAL ${changesUnlessPlain} AS counted ON true`;

/** The columns of a `VersionRow`. They require `changesJoin`. */
export const versionColumns: RawBuilder<unknown> = sql`${countedOfRun},
  coalesce(counted.changes, plain.changes) AS changes, coalesce(counted.overdue, 0) AS overdue`;

export interface VersionRow {
  run_status: StoredRunStatus;
  is_started: boolean;
  /** The number of steps of nodes, requests, tasks and waits. */
  changes: number;
  deleted_files: number;
  /**
   * The number of pending approvals whose deadline has passed. Readers see them as expired at once, but `changes`
   * counts their end only when it is stored.
   */
  overdue: number;
}

export interface Version {
  version: number;
  /**
   * Identifies a state of a run by version, status and expired requests. Without the status, the end of a run could be
   * mistaken for an earlier state if a crashed database has lost changes.
   */
  stateTag: string;
}

export function toVersion(row: VersionRow): Version {
  const { run_status: status, is_started: isStarted, changes, deleted_files: deleted, overdue } = row;
  const version = VERSION_STEP * (1 + Number(isStarted) + Number(status !== 'In Progress') + changes + deleted);
  return { version, stateTag: `${version}${status.charAt(0)}${overdue}` };
}
