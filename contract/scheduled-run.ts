// The messages between the API, which stores schedules in Temporal, the workflow that a schedule starts at each firing,
// and the activities of that workflow.
import type { ChildToStart } from './activities.js';

/** Operators filter by this workflow type: `WorkflowType='scheduledRun'`. */
export const SCHEDULED_RUN_TYPE = 'scheduledRun';

/** Exceeds every limit that `RUN_TIMEOUT_DAYS` may set for a run. */
export const SCHEDULED_RUN_TIMEOUT = '3651 days';

/** The nominal time of a firing, without jitter, to the second. Temporal sets it. */
export const NOMINAL_TIME_ATTRIBUTE = 'TemporalScheduledStartTime';

const PREFIX = 'schedule-';
const UUID_CHARACTERS = 36;

export function scheduleName(scheduleId: string): string {
  return `${PREFIX}${scheduleId}`;
}

/**
 * Returns the id of the schedule that started the workflow with this id, which consists of `scheduleName` and the
 * nominal time. Temporal passes no arguments to the workflow, because they would stay encrypted with the key that was
 * in use when the schedule was stored there.
 */
export function scheduleIdOf(workflowId: string): string {
  return workflowId.slice(PREFIX.length, PREFIX.length + UUID_CHARACTERS);
}

export interface FiringRef {
  scheduleId: string;
  /** The nominal time. */
  atMs: number;
  /** The time at which Temporal started the firing's workflow, in milliseconds since the epoch. */
  startedMs: number;
}

export interface ScheduleActivities {
  /**
   * Accepts the run of a firing. Returns undefined if there is no run to wait for: the schedule is paused or deleted,
   * or the run was refused or has already ended.
   */
  acceptFiring: (firing: FiringRef) => Promise<ChildToStart | undefined>;
  isRunOver: (run: { runId: string }) => Promise<boolean>;
  /** Stores a cancel request for the run, like that of a person. */
  cancelFiredRun: (run: { runId: string }) => Promise<void>;
}
