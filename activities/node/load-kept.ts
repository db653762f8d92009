import type { Db } from '../../db/core/client.js';
import { findKeptNodes } from '../../db/nodes/kept-results-repository.js';
import { findPlan } from '../../db/runs/run-context-repository.js';
import { rootPlan } from '../../graph/plan.js';
import type { KeptNode } from '../../graph/planner.js';
import { toKeptNodes } from './kept-nodes.js';
import { runClosedFailure } from './failures.js';

/**
 * Returns what the run has taken over from an earlier one. Throws a non-retryable failure when the run is not open.
 */
export async function loadKept(db: Db, runId: string): Promise<KeptNode[]> {
  const found = await findPlan(db, runId);
  if (found === undefined) throw runClosedFailure();
  return toKeptNodes(await findKeptNodes(db, runId), rootPlan(found.plan));
}
