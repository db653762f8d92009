// The traces of runs: which trace a run belongs to, and the span that covers the whole run.
import type { Logger } from '../../config/logger.js';
import {
  annotateActiveSpan,
  contextOf,
  currentTraceparent,
  isTracing,
  linkActiveSpan,
  markFailed,
  runContext,
  runSpanId,
  startSpan,
  type Context,
} from '../../config/spans.js';
import type { Database } from '../../db/core/client.js';
import { findRunTrace } from '../../db/runs/run-traces-repository.js';

interface Deps {
  db: Database;
  logger: Logger;
}

/** The trace that acceptance stores; empty while tracing is off. */
export function traceOfAcceptance(runId: string): { traceparent?: string } {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return {};
  annotateActiveSpan({ 'run.id': runId });
  return { traceparent };
}

/** Returns the run's span as parent for work outside of the request that accepted the run. Never throws. */
export async function findRunContext({ db, logger }: Deps, runId: string): Promise<Context | undefined> {
  if (!isTracing()) return undefined;
  try {
    return runContext(runId, (await findRunTrace(db, runId))?.traceparent);
  } catch (error) {
    logger.debug({ err: error, run_id: runId }, 'the trace of a run could not be read');
    return undefined;
  }
}

/** Links the current request to the run: an answer to an approval, a cancel, a re-run. */
export async function linkRequestToRun(deps: Deps, runId: string): Promise<void> {
  if (!isTracing()) return;
  annotateActiveSpan({ 'run.id': runId });
  linkActiveSpan(await findRunContext(deps, runId));
}

/**
 * Writes the run's own span, from its acceptance to its end. The code that stored the end calls it and does not wait.
 * If the process dies before, the nodes of the trace refer to a missing span.
 */
export function traceRunEnd(deps: Deps, runId: string): void {
  if (isTracing()) void writeRunSpan(deps, runId);
}

async function writeRunSpan({ db, logger }: Deps, runId: string): Promise<void> {
  try {
    const run = await findRunTrace(db, runId);
    if (run?.traceparent === null || run === undefined) return;
    const span = startSpan('run', {
      parent: contextOf(run.traceparent),
      spanId: runSpanId(runId),
      startTime: run.created_at,
      attributes: {
        'run.id': runId,
        'run.status': run.status,
        'workflow.id': run.workflow_id,
        'project.id': run.project_id,
      },
    });
    if (run.error_code !== null) markFailed(span, run.error_code);
    span.end(run.run_finished_at ?? undefined);
  } catch (error) {
    logger.debug({ err: error, run_id: runId }, 'the span of a run could not be written');
  }
}
