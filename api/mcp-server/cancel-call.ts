// `notifications/cancelled`: the client no longer wants the answer to a call. Cancels the run of the call, whichever
// process has accepted it.
import type { Doer } from '../../db/audit/audit-entry.js';
import { mayRun } from '../../acceptance/roles.js';
import { findRunRole } from '../../db/projects/members-repository.js';
import { findKeyedRun, withdrawKey } from '../../db/runs/idempotency-repository.js';
import { findWorkflowOf } from '../../db/runs/tool-runs-repository.js';
import type { Logger } from '../../telemetry/logger.js';
import { ownValue, type JsonObject } from '../../graph/json.js';
import type { McpServerDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import type { Caller } from '../http/route.js';
import { cancelRun } from '../runs/cancel-run.js';
import { sealWithdrawal } from '../runs/idempotency.js';
import { idSchema } from './messages.js';
import { toCallKey } from './tool-session.js';

interface Cancelling {
  deps: McpServerDeps;
  log: Logger;
  caller: Caller;
  sessionId: string;
  doer: Doer;
}

/**
 * Withdraws the key of a call that has no run yet, so that a cancel which arrives before its call is not lost. Does
 * nothing for a call that is over, or whose workflow the caller may not run any more.
 */
export async function cancelCall(
  { deps, log, caller, sessionId, doer }: Cancelling,
  params: JsonObject,
): Promise<void> {
  const requestId = idSchema.safeParse(ownValue(params, 'requestId'));
  if (!requestId.success) return;
  const key = toCallKey(caller, sessionId, requestId.data);
  if (await withdrawKey(deps.db, key, sealWithdrawal(deps, key))) return;
  const runId = (await findKeyedRun(deps.db, key))?.runId;
  const role = runId === undefined ? undefined : await findRunRole(deps.db, runId, caller);
  if (runId === undefined || !mayRun(role?.role ?? null)) return;
  const workflowId = await findWorkflowOf(deps.db, runId);
  if (workflowId === undefined) return;
  await cancelRun(deps, log, { workflowId, runId, doer }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'run_finished')) throw error;
  });
}
