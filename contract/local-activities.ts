// How the run workflow cancels its local activities: through a sink of the worker whose process executes them. If the
// SDK cancelled one at the moment in which it ends, the workflow task would fail (temporalio/sdk-rust#705). The run
// would then continue only after Temporal has repeated the task.

export type LocalActivitySinks = {
  localActivities: {
    /** The execution starts or is replayed. Earlier calls for it no longer apply. */
    begin(): void;
    /** `activityId` is unique in its execution. The activity may not have started, or may have ended. */
    cancel(activityId: string): void;
  };
};

/** The type of the failure of a local activity that was cancelled through the sink. */
export const CANCELLED_LOCALLY = 'cancelled_locally';
