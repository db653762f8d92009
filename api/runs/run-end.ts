import type { StoredRunStatus } from '../../db/core/tables.js';
import type { AppDeps } from '../deps.js';
import { traceRunEnd } from './run-traces.js';

/**
 * Reports the end of a run to metrics and traces. The code that stored the end calls it once; it ignores a run that
 * continues.
 */
export function tellRunEnd(deps: AppDeps, runId: string, status: StoredRunStatus | null): void {
  if (status === null || status === 'In Progress') return;
  deps.metrics.runsEnded.inc({ status });
  traceRunEnd(deps, runId);
}
