// Runs that start by the clock.
import type { Generated } from 'kysely';

/** This happens at a firing while a run of the schedule is open. */
export type ScheduleOverlap = 'skip' | 'buffer_one' | 'allow_all' | 'cancel_other';

/**
 * Writers: the API, and the worker's acceptance of firings for `last_*` and the pause of a schedule whose author has lost
 * access. Schedules are deleted together with their workflow. Temporal has a copy, which is the clock.
 */
export interface SchedulesTable {
  id: string;
  workflow_id: number;
  /** The user in whose name the runs are started. */
  author_id: number;
  cron: string;
  time_zone: string;
  /** The whole input as JSON text. */
  input_enc: Buffer;
  overlap: ScheduleOverlap;
  jitter_seconds: number;
  catchup_seconds: number;
  is_paused: Generated<boolean>;
  /** Null if a person has paused it. */
  pause_reason: 'author_lost_access' | null;
  /** A new random one with every change that Temporal must know: no two are equal, after a restore of Postgres either. */
  version: Generated<string>;
  /** The last version that Temporal was told wholly, with what was to be made up for. Null where none was. */
  told_version: string | null;
  /** The time of the first change that Temporal was not told, or else of the last one. */
  changed_at: Generated<Date>;
  /** The time when the copy in Temporal is compared next. */
  sync_at: Generated<Date>;
  /** The nominal time of the last firing that was accepted or refused. */
  last_firing_at: Date | null;
  /** Null if it was refused. */
  last_run_id: string | null;
  last_refusal_code: string | null;
  last_refusal_message: string | null;
  created_at: Generated<Date>;
}

/** Writer: the worker, in one transaction with the run. A row makes a firing start one run. */
export interface ScheduleFiringsTable {
  schedule_id: string;
  /** The nominal time, without jitter. */
  at: Date;
  run_id: string;
  accepted_at: Generated<Date>;
}

/**
 * Writers: whoever deletes a schedule, and the worker where one fires that is unknown here. Its copy in Temporal is to
 * be deleted.
 */
export interface ScheduleRemovalsTable {
  schedule_id: string;
  requested_at: Generated<Date>;
}
