import type { StoredRunStatus } from '../../db/core/tables.js';
import type { AppDeps } from '../deps.js';
import { traceRunEnd } from './run-traces.js';

/** Told by whoever has written it, once a run: metrics and traces. A run that goes on has no end to tell of. */
export function tellRunEnd(deps: AppDeps, runId: string, status: StoredRunStatus | null): void {
  if (status === null || status === 'In Progress') return;
  deps.metrics.runsEnded.inc({ status });
  traceRunEnd(deps, runId);
}
