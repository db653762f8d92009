// A person's answer to an agent. Postgres decides who was first; Temporal is told by a signal, again if need be.
import type { Logger } from '../../config/logger.js';
import {
  decideRequest,
  findRequest,
  findUndelivered,
  markSignalled,
  type ApprovalRequest,
  type NewDecision,
} from '../../db/agents/approvals-repository.js';
import type { AppDeps } from '../deps.js';
import { linkRequestToRun } from '../runs/run-traces.js';
import { signalDecision } from '../runs/temporal-calls.js';

/** A signal that has not been confirmed after this long is sent again; the run takes only the first. */
const REDELIVER_AFTER_SECONDS = 3;
const REDELIVER_IN_ALL = 50;
const REDELIVER_AT_ONCE = 10;

interface DecisionAnswer {
  status: number;
  data: Record<string, unknown>;
}

/**
 * Inner 200 also for the same decision again; 409 for the opposite one, or when it is too late; 404 for an unknown
 * request. When the process dies after the decision is stored and before the signal, `redeliverDecisions` sends it.
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
 * In every API process, beside the reconciler; never for longer than ten seconds. Throws when the database is away.
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
