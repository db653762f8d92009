import type { UpdateOutcome } from '../../db/runs/execution-update.js';
import { deliverWake } from '../waits/deliver-wakes.js';
import type { AppDeps } from '../deps.js';
import { traceRunEnd } from './run-traces.js';

/**
 * Reports the end of a run to metrics and traces, and to the run that waits for it. The code that stored the end calls it
 * once; it ignores a run that continues.
 */
export function tellRunEnd(deps: AppDeps, runId: string, { runStatus, awaitedBy }: UpdateOutcome): void {
  if (runStatus === null || runStatus === 'In Progress') return;
  deps.metrics.runsEnded.inc({ status: runStatus });
  traceRunEnd(deps, runId);
  if (awaitedBy !== undefined) void deliverWake(deps, deps.logger, awaitedBy);
}
