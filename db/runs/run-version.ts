// The version of a run: how much has happened that a reader can see. ADR 16.
import { sql, type RawBuilder } from 'kysely';

/**
 * Each visible change adds one: the acceptance, start and end of the run, the start and end of a node (both at once where
 * the start was not stored by itself), an approval or a human task that is asked for or settled, each decision or answer that
 * counts and is not enough, and the start and end of a run that a tool call of an agent waits for. Nothing is written
 * for it: the number is counted in the snapshot of whoever reads, in which later commits add to it, in whatever order
 * they come.
 *
 * The numbers are a million apart, so that each event of a stream finds one of its own between those of two polls
 * (`order_run_events` in db/migrations/0022-counted-answers.ts, which counts in the same way).
 */
export const VERSION_STEP = 1_000_000;

/** Columns `version` and `overdue` of the run with the alias `run`. */
export const versionColumns: RawBuilder<unknown> = sql`
  ${sql.lit(VERSION_STEP)} * (1 + (run.run_started_at IS NOT NULL)::integer + (run.status <> 'In Progress')::integer
    + reached.changes + asked_for.changes + tasks.changes + started.changes) AS version, asked_for.overdue`;

/** Joined to the run with the alias `run`. `reached.changed_at`: when a node of it last began or ended. */
export const versionJoin: RawBuilder<unknown> = sql`
  CROSS JOIN LATERAL (
    SELECT count(*) + count(*) FILTER (WHERE node.status <> 'in progress') AS changes,
      max(greatest(node.started_at, node.finished_at)) AS changed_at
    FROM node_results AS node WHERE node.run_id = run.id
  ) AS reached
  CROSS JOIN LATERAL (
    SELECT count(*) + count(*) FILTER (WHERE request.status <> 'pending') + coalesce(sum(request.counted), 0) AS changes,
      count(*) FILTER (WHERE request.status = 'pending' AND request.expires_at <= now()) AS overdue
    FROM approval_requests AS request WHERE request.run_id = run.id
  ) AS asked_for
  CROSS JOIN LATERAL (
    SELECT count(*) + count(*) FILTER (WHERE task.status <> 'pending') + coalesce(sum(task.counted), 0) AS changes
    FROM human_tasks AS task WHERE task.run_id = run.id
  ) AS tasks
  CROSS JOIN LATERAL (
    SELECT count(*) + count(wait.closed_at) AS changes FROM waits AS wait WHERE wait.run_id = run.id AND wait.call > 0
  ) AS started`;

export interface VersionRow {
  version: number;
  /** How many pending requests are out of time, which readers see before the run does. It grows until the version does. */
  overdue: number;
}

/**
 * What distinguishes two states of a run in Postgres: the version, the status, and what has become of open requests.
 * With the status in it, the end of a run is never taken for an earlier state, whatever a crashed database has forgotten.
 */
export function toStateTag(version: number, status: string, overdue: number): string {
  return `${version}${status.charAt(0)}${overdue}`;
}

/** The same, as an expression over a row with `version`, `run_status` and `overdue`. */
export const stateTagOfRow: RawBuilder<string> = sql`version::text || left(run_status, 1) || overdue::text`;
