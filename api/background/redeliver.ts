// Sends again the signals that runs have not confirmed: the decisions on requests of agents, and the wakes of nodes that wait.
import { takeUndelivered } from '../../db/agents/approvals-repository.js';
import { takeUndeliveredWakes } from '../../db/waits/wakes-repository.js';
import { deliverDecision } from '../approvals/decide-approval.js';
import type { AppDeps } from '../deps.js';
import { deliverWake } from '../../acceptance/wake-run.js';
import { workThrough } from './work-through.js';

/**
 * A signal that has not been confirmed after this time is sent again, and later and later where it cannot be delivered. The run
 * uses only the first.
 */
const REDELIVER_AFTER_SECONDS = 3;
const REDELIVER_IN_ALL = 50;
const REDELIVER_AT_ONCE = 10;

/**
 * Runs in every API process, next to the reconciler, for ten seconds at most for each sort of signal. Throws when the
 * database is unavailable.
 */
export async function redeliverSignals(deps: AppDeps, stopped: AbortSignal): Promise<void> {
  const { db, logger } = deps;
  const pool = { atOnce: REDELIVER_AT_ONCE, stopped };
  const decisions = await takeUndelivered(db, REDELIVER_AFTER_SECONDS, REDELIVER_IN_ALL);
  await workThrough(decisions, pool, (decision) => deliverDecision(deps, logger, decision));
  const wakes = await takeUndeliveredWakes(db, REDELIVER_AFTER_SECONDS, REDELIVER_IN_ALL);
  await workThrough(wakes, pool, (wake) => deliverWake(deps, wake));
}
