// A person's decision on an agent's request. Postgres decides which decision was first; a signal reports it to Temporal
// and is repeated until the run confirms it.
import type { Logger } from '../../config/logger.js';
import { findRequest, type ApprovalRequest } from '../../db/agents/approval-requests-repository.js';
import {
  decideRequest,
  findUndelivered,
  markSignalled,
  type NewDecision,
} from '../../db/agents/approvals-repository.js';
import type { AppDeps } from '../deps.js';
import { linkRequestToRun } from '../runs/run-traces.js';
import { signalDecision } from '../runs/temporal-calls.js';

/** A signal that has not been confirmed after this time is sent again; the run uses only the first. */
const REDELIVER_AFTER_SECONDS = 3;
const REDELIVER_IN_ALL = 50;
const REDELIVER_AT_ONCE = 10;

interface DecisionAnswer {
  status: number;
  data: Record<string, unknown>;
}

/**
 * Answers inner 200, also when the same decision is repeated; 409 for the opposite decision or a late one; 404 for an
 * unknown request. If the process dies after storing the decision and before the signal, `redeliverDecisions` sends it.
 */
export async function decide(deps: AppDeps, log: Logger, made: NewDecision): Promise<DecisionAnswer> {
  const { runId, requestId, decision } = made;
  await linkRequestToRun(deps, runId);
  if (await decideRequest(deps.db, made)) {
    await deliver(deps, log, { runId, requestId, isApproved: decision === 'approved' });
    return answer(200, made, decision);
  }
  const request = await findRequest(deps.db, runId, requestId);
  if (request === undefined) return refuse(404, made, null, 'There is no such approval request.');
  if (request.status === decision) return answer(200, made, decision);
  return refuse(409, made, request.status, tooLate(request));
}

/**
 * Runs in every API process, next to the reconciler, for ten seconds at most. Throws when the database is unavailable.
 */
export async function redeliverDecisions(deps: AppDeps, stopped: AbortSignal): Promise<void> {
  const queue = (await findUndelivered(deps.db, REDELIVER_AFTER_SECONDS, REDELIVER_IN_ALL)).values();
  const work = async (): Promise<void> => {
    for (let next = queue.next(); !next.done && !stopped.aborted; next = queue.next()) {
      await deliver(deps, deps.logger, next.value);
    }
  };
  await Promise.all(Array.from({ length: REDELIVER_AT_ONCE }, work));
}

async function deliver(
  deps: AppDeps,
  log: Logger,
  { runId, requestId, isApproved }: { runId: string; requestId: string; isApproved: boolean },
): Promise<void> {
  try {
    await signalDecision(deps.temporal, runId, { requestId, isApproved });
    await markSignalled(deps.db, requestId);
  } catch (error) {
    log.warn({ err: error, run_id: runId }, 'decision not delivered yet; it will be sent again');
  }
}

function answer(status: number, { runId, requestId }: NewDecision, decision: string): DecisionAnswer {
  return { status, data: { id: runId, request_id: requestId, decision, status: 'in progress' } };
}

function refuse(status: number, made: NewDecision, decision: string | null, detail: string): DecisionAnswer {
  const { runId, requestId } = made;
  return { status, data: { id: runId, request_id: requestId, decision, status: 'failed', detail } };
}

function tooLate({ status }: ApprovalRequest): string {
  if (status === 'expired') return 'The request has expired.';
  if (status === 'pending') return 'The run has ended.';
  return `The request was already ${status}.`;
}
