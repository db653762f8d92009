// Determines the trace that a run belongs to.
import type { Logger } from '../../telemetry/logger.js';
import {
  annotateActiveSpan,
  currentTraceparent,
  isTracing,
  linkActiveSpan,
  runContext,
  type Context,
} from '../../telemetry/spans.js';
import type { Database } from '../../db/core/client.js';
import { findRunTrace } from '../../db/runs/run-traces-repository.js';

interface Deps {
  db: Database;
  logger: Logger;
}

/**
 * Returns the trace context that acceptance stores, and notes the run's id in the active span. Empty while tracing is
 * off.
 */
export function traceOfAcceptance(runId: string): { traceparent?: string } {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return {};
  annotateActiveSpan({ 'run.id': runId });
  return { traceparent };
}

/**
 * Returns the run's span as parent for work outside of the request that accepted the run. Undefined if tracing is off,
 * the run was not traced, or its trace cannot be read. Never throws.
 */
export async function findRunContext({ db, logger }: Deps, runId: string): Promise<Context | undefined> {
  if (!isTracing()) return undefined;
  try {
    return runContext(runId, (await findRunTrace(db, runId))?.traceparent);
  } catch (error) {
    logger.debug({ err: error, run_id: runId }, 'the trace of a run could not be read');
    return undefined;
  }
}

/**
 * Links the trace of the current request to that of the run: for an answer to an approval or a human task, a cancel, a
 * re-run or a resume.
 */
export async function linkRequestToRun(deps: Deps, runId: string): Promise<void> {
  if (!isTracing()) return;
  annotateActiveSpan({ 'run.id': runId });
  linkActiveSpan(await findRunContext(deps, runId));
}
