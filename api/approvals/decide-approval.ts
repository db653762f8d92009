// Records a person's decision on an agent's request. Postgres counts the decisions. Once they settle the request, a
// signal tells the run in Temporal, and is repeated until Temporal has accepted the signal.
import type { ByteLease } from '../../memory/byte-budget.js';
import type { Logger } from '../../telemetry/logger.js';
import {
  findCurrentArguments,
  findRequest,
  type ApprovalRequest,
} from '../../db/agents/approval-requests-repository.js';
import {
  decideRequest,
  markSignalled,
  mayDecide,
  type NewDecision,
  type UndeliveredDecision,
} from '../../db/agents/approvals-repository.js';
import type { JsonObject } from '../../graph/json.js';
import type { AuditTrail } from '../http/audit-rule.js';
import type { ApprovalDeps } from './deps.js';
import { permissionDenied } from '../http/errors.js';
import type { Asker } from '../http/heavy-work.js';
import { linkRequestToRun } from '../runs/run-traces.js';
import { signalDecision } from '../runs/temporal-calls.js';
import { isAlready, toEdit } from './edit-arguments.js';

interface AskedDecision extends Omit<NewDecision, 'edit'> {
  /** Replaces the arguments of the request. */
  arguments?: JsonObject | undefined;
}

interface Asking extends Asker {
  log: Logger;
  memory: ByteLease;
  audit: AuditTrail;
}

interface DecisionAnswer {
  status: number;
  data: Record<string, unknown>;
}

const NOT_YOU = 'The approval rules of this agent do not let you decide on this request.';

/**
 * Returns the body of the answer, whose `status` is 200, also if the same decision is repeated; 409 for the opposite
 * decision, a late one, one on other arguments, or an approval after too many changes of the arguments; 404 for an
 * unknown request. Throws 403 for a person whom the drawing does not let decide, and the errors of `toEdit`. If the
 * process dies after storing the decision and before the signal, `redeliverSignals` sends the signal.
 */
export async function decide(
  deps: ApprovalDeps,
  { log, audit, ...asker }: Asking,
  asked: AskedDecision,
): Promise<DecisionAnswer> {
  const { runId, requestId, decision } = asked;
  await linkRequestToRun(deps, runId);
  const made = await withEdit(deps, asked, asker);
  const outcome = await audit.change((trx) => decideRequest(trx, made), {
    keyOf: (decided) => (decided === 'settled' || decided === 'counted' ? { id: requestId } : undefined),
  });
  if (outcome === 'forbidden') throw permissionDenied(NOT_YOU);
  if (outcome === 'settled')
    await deliverDecision(deps, log, { runId, requestId, isApproved: decision === 'approved' });
  const request = await findRequest(deps.db, runId, requestId);
  if (request === undefined) return refuse(404, asked, null, 'There is no such approval request.');
  if (outcome === 'settled' || outcome === 'counted' || outcome === 'repeated') return accept(request, asked, outcome);
  return refuse(409, asked, request.status, REASONS[outcome] ?? tooLate(request));
}

const REASONS: Partial<Record<string, string>> = {
  stale:
    'The arguments of the request are not those of arguments_hash. Somebody may have changed them: read them again.',
  full: 'The arguments of this request have been changed too often. It can only be rejected.',
};

/** Opens the stored arguments only if the person changes them. */
async function withEdit(
  deps: ApprovalDeps,
  { arguments: edited, ...made }: AskedDecision,
  asker: Omit<Asking, 'log' | 'audit'>,
): Promise<NewDecision> {
  if (edited === undefined) return made;
  const current = await findCurrentArguments(deps.db, made);
  // `decideRequest` refuses a decision on an unknown request, or by a person who may not decide.
  if (current === undefined || !mayDecide(current, made)) return made;
  if (isAlready(deps, current, edited)) {
    // The first answer may have been lost. The person then repeats the change with the hash from before the change.
    const isRepeated = current.hasApproved || made.argumentsHash === undefined;
    return isRepeated ? { ...made, argumentsHash: current.hash } : made;
  }
  if (current.status !== 'pending') return { ...made, argumentsHash: NO_HASH };
  const edit = await toEdit(deps, current, edited, { userId: made.userId, ...asker });
  return { ...made, argumentsHash: made.argumentsHash ?? current.hash, edit };
}

/** Matches no stored arguments, so a decision with other arguments never counts as a repeat of the stored one. */
const NO_HASH = '';

/** Never throws. */
export async function deliverDecision(
  deps: ApprovalDeps,
  log: Logger,
  { runId, requestId, isApproved }: UndeliveredDecision,
): Promise<void> {
  try {
    await signalDecision(deps.temporal, runId, { requestId, isApproved });
    await markSignalled(deps.db, requestId);
  } catch (error) {
    log.warn({ err: error, run_id: runId }, 'decision not delivered yet; it will be sent again');
  }
}

/** `decision` in the answer is the present state of the request. While it is `pending`, more people must approve. */
function accept(
  request: ApprovalRequest,
  { runId, requestId, decision }: AskedDecision,
  outcome: string,
): DecisionAnswer {
  const now = outcome === 'settled' ? decision : request.status;
  return { status: 200, data: { id: runId, request_id: requestId, decision: now, status: 'in progress' } };
}

function refuse(status: number, made: AskedDecision, decision: string | null, detail: string): DecisionAnswer {
  const { runId, requestId } = made;
  return { status, data: { id: runId, request_id: requestId, decision, status: 'failed', detail } };
}

function tooLate({ status }: ApprovalRequest): string {
  if (status === 'expired') return 'The request has expired.';
  if (status === 'pending') return 'The run has ended.';
  return `The request was already ${status}.`;
}
