// The version of a run: a count of its visible changes (ADR 16).
import { sql, type RawBuilder } from 'kysely';

/**
 * Each visible change adds one step:
 * - the acceptance, start and end of the run;
 * - the start and end of a node (one step if its start was not stored separately);
 * - an approval or human task that is requested or settled, and each decision or answer that counts but does not
 *   settle it;
 * - the start and end of a child run that a tool call waits for;
 * - the deletion of a file of an ended run.
 *
 * No writer stores the number. Each reader counts it in its own snapshot (`run_changes` in db/routines/loops.sql), and
 * later commits only add to it, in whatever order they come.
 *
 * A step is a million, so that the events of a stream get their own numbers between the versions of two polls
 * (`order_run_events`, which counts with the same function).
 */
export const VERSION_STEP = 1_000_000;

// A file that a run in flight refers to cannot be deleted, so only ended runs count deletions.
const deletedFiles = sql`(
  SELECT count(*)::integer FROM file_references AS held JOIN files ON files.id = held.file_id AND files.copy_id IS NULL
  WHERE held.kind = 'run' AND held.holder = run.id::text)`;

/** Columns `version` and `overdue` of the run with the alias `run`. */
export const versionColumns: RawBuilder<unknown> = sql`
  ${sql.lit(VERSION_STEP)} * (1 + (run.run_started_at IS NOT NULL)::integer + (run.status <> 'In Progress')::integer
    + reached.changes + CASE WHEN run.status = 'In Progress' THEN 0 ELSE ${deletedFiles} END) AS version, reached.overdue`;

/** Joined to the run with the alias `run`. `reached.changed_at` is the last start or end of one of its nodes. */
export const versionJoin: RawBuilder<unknown> = sql`CROSS JOIN LATERAL run_changes(run.id) AS reached`;

export interface VersionRow {
  version: number;
  /** The number of pending requests that have expired: readers see them as expired before the version counts it. */
  overdue: number;
}

/**
 * Identifies a state of a run by version, status and expired requests. The status is part of it, so that the end of a
 * run is never mistaken for an earlier state, even if a crashed database has lost changes.
 */
export function toStateTag(version: number, status: string, overdue: number): string {
  return `${version}${status.charAt(0)}${overdue}`;
}

/** `toStateTag` in SQL, for a row with `version`, `run_status` and `overdue`. */
export const stateTagOfRow: RawBuilder<string> = sql`version::text || left(run_status, 1) || overdue::text`;
