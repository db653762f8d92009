// `notifications/cancelled`: the client does not want the answer to a call any more. Its run is cancelled, whichever process
// has accepted it.
import { setTimeout as delay } from 'node:timers/promises';
import { findRunRole } from '../../db/projects/members-repository.js';
import { findKeyedRun, type RequestKey } from '../../db/runs/idempotency-repository.js';
import { findWorkflowOf } from '../../db/runs/tool-runs-repository.js';
import type { Logger } from '../../config/logger.js';
import { ownValue, type JsonObject } from '../../graph/json.js';
import type { AppDeps } from '../deps.js';
import { ApiError } from '../http/errors.js';
import type { Caller } from '../http/route.js';
import { cancelRun } from '../runs/cancel-run.js';
import { mayRun } from '../waits/wait-view.js';
import { idSchema } from './messages.js';
import { toCallKey } from './tool-session.js';

interface Cancelling {
  deps: AppDeps;
  log: Logger;
  caller: Caller;
  sessionId: string;
}

/** Another process may be just about to accept the call. */
const PATIENCE_MS = 2_000;
const LOOK_EVERY_MS = 100;

/** Does nothing for a call that is unknown or over, or whose workflow the caller may not run any more. */
export async function cancelCall({ deps, log, caller, sessionId }: Cancelling, params: JsonObject): Promise<void> {
  const requestId = idSchema.safeParse(ownValue(params, 'requestId'));
  if (!requestId.success) return;
  const runId = await awaitRun(deps, toCallKey(caller, sessionId, requestId.data));
  const role = runId === undefined ? undefined : await findRunRole(deps.db, runId, caller);
  if (runId === undefined || !mayRun(role?.role ?? null)) return;
  const workflowId = await findWorkflowOf(deps.db, runId);
  if (workflowId === undefined) return;
  await cancelRun(deps, log, workflowId, runId).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'run_finished')) throw error;
  });
}

async function awaitRun({ db }: AppDeps, key: RequestKey): Promise<string | undefined> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const run = await findKeyedRun(db, key);
    if (run !== undefined || performance.now() >= giveUpAt) return run?.runId;
    await delay(LOOK_EVERY_MS);
  }
}
