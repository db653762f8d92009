import type { Logger } from '../../telemetry/logger.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import type { McpServerDeps } from './deps.js';
import type { Caller } from '../http/route.js';

export interface Calling {
  deps: McpServerDeps;
  log: Logger;
  caller: Caller;
  sessionId: string;
  takesFirstEvent: boolean;
  /** True if the server has announced tasks to the client. */
  hasTasks: boolean;
  signal: AbortSignal;
  doer: Doer;
}
