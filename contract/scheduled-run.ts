// The messages between the API, which keeps schedules in Temporal, and what a schedule starts at each firing.
import type { ChildToStart } from './activities.js';

/** The workflow type that a schedule starts: `WorkflowType='scheduledRun'`. */
export const SCHEDULED_RUN_TYPE = 'scheduledRun';

/** Longer than `RUN_TIMEOUT_DAYS` may let a run last. */
export const SCHEDULED_RUN_TIMEOUT = '3651 days';

/** The nominal time of a firing, without jitter, to the second. Temporal sets it. */
export const NOMINAL_TIME_ATTRIBUTE = 'TemporalScheduledStartTime';

const PREFIX = 'schedule-';
const UUID_CHARACTERS = 36;

/** Temporal's id of a schedule. */
export function scheduleName(scheduleId: string): string {
  return `${PREFIX}${scheduleId}`;
}

/**
 * The id of the schedule that has started the workflow with this id, which is `scheduleName` and the nominal time. Such a
 * workflow has no input: that of a schedule would stay encrypted with a key of long ago.
 */
export function scheduleIdOf(workflowId: string): string {
  return workflowId.slice(PREFIX.length, PREFIX.length + UUID_CHARACTERS);
}

export interface FiringRef {
  scheduleId: string;
  /** The nominal time, in milliseconds since the epoch. */
  atMs: number;
  /** When Temporal has started its workflow. */
  startedMs: number;
}

export interface ScheduleActivities {
  /** Accepts the run of a firing. Undefined where there is nothing to wait for: it was refused, or its run has ended. */
  acceptFiring: (firing: FiringRef) => Promise<ChildToStart | undefined>;
  /** Whether the run has ended. */
  isRunOver: (run: { runId: string }) => Promise<boolean>;
  /** Stores that the run is to be cancelled, as if a person had asked for it. */
  cancelFiredRun: (run: { runId: string }) => Promise<void>;
}
