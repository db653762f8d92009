// Shows one reader the wait of a node. Only readers who may run the workflow see the address of a callback.
import { mayRun } from '../../acceptance/roles.js';
import { callbackUrl } from '../../contract/callbacks.js';
import type { Role } from '../../db/core/tables.js';
import { readSealedToken, type SealedToken, type StoredWait } from '../../db/runs/stored-wait.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Caller } from '../http/route.js';

export interface WaitView {
  waiting(wait: StoredWait): Record<string, string | number>;
}

interface Opener {
  secretBox: SecretBox;
  config: { publicUrl: string };
}

/** A key of the scope `read` runs nothing, so it sees of a run what a viewer sees. */
export function readingRole({ scope }: Pick<Caller, 'scope'>, role: Role | null): Role | null {
  return scope === 'read' && role !== null ? 'viewer' : role;
}

/** `role` is the role of the reader in the run's project (`readingRole`). */
export function createWaitView({ secretBox, config }: Opener, role: Role | null): WaitView {
  const isShown = mayRun(role);
  const urlOf = ({ tokenEnc, row }: SealedToken): string =>
    callbackUrl(config.publicUrl, secretBox.open(tokenEnc, 'callback-token', ...row));
  return {
    waiting({ for: what, until, token_enc: token, task_id: taskId, run_id: runId, connection_id: connectionId, pool }) {
      const task = taskId === null ? {} : { task_id: taskId };
      const others = {
        ...(runId !== null && { run_id: runId }),
        ...(connectionId !== null && { connection_id: connectionId }),
        ...(pool !== null && { pool }),
      };
      const waiting = { for: what, ...(until !== null && { until }), ...task, ...others };
      return token !== null && isShown ? { ...waiting, callback_url: urlOf(readSealedToken(token)) } : waiting;
    },
  };
}
