import type { Db } from '../../db/core/client.js';
import { findPlan } from '../../db/runs/run-context-repository.js';
import type { Plan } from '../../graph/plan.js';
import { runClosedFailure } from './failures.js';

/** For a run that was started without its plan. Throws a non-retryable failure when the run is not open. */
export async function loadPlan(db: Db, runId: string): Promise<Plan> {
  const plan = await findPlan(db, runId);
  if (plan === undefined) throw runClosedFailure();
  return plan;
}
