import type { LoadedPlan } from '../../contract/activities.js';
import type { Db } from '../../db/core/client.js';
import { findPlan } from '../../db/runs/run-context-repository.js';
import { executionOf, type Execution } from '../../graph/document.js';
import { runClosedFailure } from './failures.js';

/** For a run that was started without its plan. Throws a non-retryable failure when the run is not open. */
export async function loadPlan(db: Db, runId: string, byDefault: Execution): Promise<LoadedPlan> {
  const found = await findPlan(db, runId);
  if (found === undefined) throw runClosedFailure();
  const { plan, settings } = found;
  return { plan, ...(executionOf({ settings }, byDefault) === 'dense' && { stride: 'dense' }) };
}
