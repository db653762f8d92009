// How the run workflow cancels its local activities: it tells the worker, in whose process they run. The SDK would fail the
// workflow task where an activity ends in the moment in which it is cancelled (temporalio/sdk-rust#705), and the run would go
// on only when Temporal has repeated the task.

/** What the worker is told. */
export type LocalActivitySinks = {
  localActivities: {
    /** The execution begins, or begins anew: what was said of it before is void. */
    begin(): void;
    /** `activityId` identifies the activity in its execution. It may not have begun, or may have ended. */
    cancel(activityId: string): void;
  };
};

/** The type of the failure of a local activity that was cancelled in this way. */
export const CANCELLED_LOCALLY = 'cancelled_locally';
