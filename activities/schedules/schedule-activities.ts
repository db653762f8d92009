// The database access of a schedule's workflow.
import { START_GRACE_SECONDS } from '../../acceptance/store-run.js';
import type { ScheduleActivities } from '../../contract/scheduled-run.js';
import { requestCancel } from '../../db/runs/runs-repository.js';
import { isRunOver } from '../../db/schedules/firings-repository.js';
import { createAcceptFiring, type FiringDeps } from './accept-firing.js';

export function createScheduleActivities(deps: FiringDeps): ScheduleActivities {
  return {
    acceptFiring: createAcceptFiring(deps),
    isRunOver: ({ runId }) => isRunOver(deps.db, runId),
    // The workflow itself then cancels the run in Temporal, and the reconciler does so if that request is lost.
    cancelFiredRun: async ({ runId }) => void (await requestCancel(deps.db, runId, START_GRACE_SECONDS)),
  };
}
