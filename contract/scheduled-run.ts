// The messages between the API, which keeps schedules in Temporal, and what a schedule starts at each firing.
import type { ChildToStart } from './activities.js';

/** The workflow type that a schedule starts: `WorkflowType='scheduledRun'`. */
export const SCHEDULED_RUN_TYPE = 'scheduledRun';

/** Longer than a run can last. */
export const SCHEDULED_RUN_TIMEOUT = '31 days';

/** The nominal time of a firing, without jitter, to the second. Temporal sets it. */
export const NOMINAL_TIME_ATTRIBUTE = 'TemporalScheduledStartTime';

/** Temporal's id of a schedule. That of what it starts begins with the same words. */
export function scheduleName(scheduleId: string): string {
  return `schedule-${scheduleId}`;
}

export interface ScheduledRunInput {
  scheduleId: string;
  /** Of the schedule, with which its copy in Temporal was made. */
  version: number;
}

export interface FiringRef {
  scheduleId: string;
  /** The nominal time, in milliseconds since the epoch. */
  atMs: number;
}

export interface ScheduleActivities {
  /** Accepts the run of a firing. Undefined where there is nothing to wait for: it was refused, or its run has ended. */
  acceptFiring: (firing: FiringRef) => Promise<ChildToStart | undefined>;
  /** Whether the run has ended. */
  isRunOver: (run: { runId: string }) => Promise<boolean>;
  /** Stores that the run is to be cancelled, as if a person had asked for it. */
  cancelFiredRun: (run: { runId: string }) => Promise<void>;
}
