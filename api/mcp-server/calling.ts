import type { Logger } from '../../telemetry/logger.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { McpServerDeps } from './deps.js';
import type { Caller } from '../http/route.js';

export interface Calling {
  deps: McpServerDeps;
  log: Logger;
  caller: Caller;
  sessionId: string;
  takesFirstEvent: boolean;
  /** True if the client's version of the protocol has tasks (`AgreedVersion`). */
  hasTasks: boolean;
  tenant: string;
  /** The memory of the request, with its body. */
  memory: ByteLease;
  signal: AbortSignal;
  doer: Doer;
}
