// The version of a run: how much has happened that a reader can see. ADR 16.
import { sql, type RawBuilder } from 'kysely';

/**
 * Each visible change adds one: the acceptance, start and end of the run, the start and end of a node (both at once where
 * the start was not stored by itself), an approval or a human task that is asked for or settled, each decision or answer that
 * counts and is not enough, the start and end of a run that a tool call of an agent waits for, and the deletion of a file of
 * an ended run. Nobody writes the number: it is counted in the snapshot of whoever reads (`run_changes` in
 * db/routines/loops.sql), in which later commits add to it, in whatever order they come.
 *
 * The numbers are a million apart, so that each event of a stream finds one of its own between those of two polls
 * (`order_run_events`, which counts by the same function).
 */
export const VERSION_STEP = 1_000_000;

/** A file that a run in flight refers to cannot be deleted. */
const deletedFiles = sql`(
  SELECT count(*)::integer FROM file_references AS held JOIN files ON files.id = held.file_id AND files.copy_id IS NULL
  WHERE held.kind = 'run' AND held.holder = run.id::text)`;

/** Columns `version` and `overdue` of the run with the alias `run`. */
export const versionColumns: RawBuilder<unknown> = sql`
  ${sql.lit(VERSION_STEP)} * (1 + (run.run_started_at IS NOT NULL)::integer + (run.status <> 'In Progress')::integer
    + reached.changes + CASE WHEN run.status = 'In Progress' THEN 0 ELSE ${deletedFiles} END) AS version, reached.overdue`;

/** Joined to the run with the alias `run`. `reached.changed_at`: when a node of it last began or ended. */
export const versionJoin: RawBuilder<unknown> = sql`CROSS JOIN LATERAL run_changes(run.id) AS reached`;

export interface VersionRow {
  version: number;
  /** How many pending requests are out of time, which readers see before the run does. It grows until the version does. */
  overdue: number;
}

/**
 * Distinguishes two states of a run in Postgres: by the version, the status, and what has become of open requests.
 * With the status in it, the end of a run is never taken for an earlier state, whatever a crashed database has forgotten.
 */
export function toStateTag(version: number, status: string, overdue: number): string {
  return `${version}${status.charAt(0)}${overdue}`;
}

/** `toStateTag` as an expression over a row with `version`, `run_status` and `overdue`. */
export const stateTagOfRow: RawBuilder<string> = sql`version::text || left(run_status, 1) || overdue::text`;
