// Loads the plan of a run that was started without it, and the ends of nodes that a run reuses from an earlier run.
import type { LoadedPlan } from '../../contract/activities.js';
import type { Db } from '../../db/core/client.js';
import { findReusedNodes, type EndedNode } from '../../db/nodes/reused-results-repository.js';
import { findPlanOfRun } from '../../db/runs/run-context-repository.js';
import { executionOf, type Execution } from '../../graph/document.js';
import { hasPools } from '../../graph/pools.js';
import { handlesAfter, rootPlan, type ScopePlan } from '../../graph/plan.js';
import type { ReusedNode } from '../../graph/planner.js';
import { runClosedFailure } from './failures.js';

/** Throws a non-retryable failure if the run is not open. */
export async function loadPlan(db: Db, runId: string, byDefault: Execution): Promise<LoadedPlan> {
  const found = await findPlanOfRun(db, runId);
  if (found === undefined) throw runClosedFailure();
  const { plan, settings, pool } = found;
  return {
    plan,
    ...(executionOf({ settings }, byDefault) === 'dense' && { stride: 'dense' }),
    ...(hasPools(plan, pool) && { hasPools: true }),
  };
}

/** Returns the nodes whose ends the run reuses. Throws a non-retryable failure if the run is not open. */
export async function loadReused(db: Db, runId: string): Promise<ReusedNode[]> {
  const found = await findPlanOfRun(db, runId);
  if (found === undefined) throw runClosedFailure();
  return toReusedNodes(await findReusedNodes(db, runId), rootPlan(found.plan));
}

/** Converts the reused ends of a scope into the input of its planner. */
export function toReusedNodes(ends: EndedNode[], plan: ScopePlan): ReusedNode[] {
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  return ends.flatMap((end): ReusedNode[] => {
    const node = numbers.get(end.nodeId);
    const handles = node === undefined ? undefined : handlesAfter(end, plan, node);
    if (node === undefined || handles === undefined) return [];
    const isOrdinary = handles.length === 1 && handles[0] === 0;
    return [{ node, ...(!isOrdinary && { handles }), ...(end.status === 'failed' && { hasFailed: true }) }];
  });
}
