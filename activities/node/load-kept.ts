import type { KeptNode } from '../../contract/activities.js';
import { START_SEQUENCE } from '../../contract/nodes.js';
import type { Database } from '../../db/core/client.js';
import { findKeptNodes } from '../../db/nodes/kept-results-repository.js';
import { applyExecutionUpdate } from '../../db/runs/run-life.js';
import { rootPlan } from '../../graph/plan.js';
import { runClosedFailure } from './failures.js';
import { toKeptNodes } from './kept-nodes.js';
import { loadPlan } from './load-plan.js';

/**
 * Returns what the run has taken over from an earlier one. Its trigger is among it, if anything is, so the start of the run
 * is reported here. Repeating it changes nothing. Throws a non-retryable failure when the run is not open.
 */
export async function loadKept(db: Database, runId: string): Promise<KeptNode[]> {
  const plan = rootPlan(await loadPlan(db, runId));
  const kept = toKeptNodes(await findKeptNodes(db, runId), plan);
  if (kept.length === 0) return [];
  const start = { sequence: START_SEQUENCE, status: 'in progress' as const };
  const { reason } = await applyExecutionUpdate(db, runId, start);
  if (reason === 'already_terminal' || reason === 'unknown_run') throw runClosedFailure();
  return kept;
}
