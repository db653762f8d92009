// A run in the traces of the API: which trace it belongs to, and the span that stands for the whole of it.
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

/** What acceptance stores of the trace; nothing while nothing is traced. */
export function traceOfAcceptance(runId: string): { traceparent?: string } {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return {};
  annotateActiveSpan({ 'run.id': runId });
  return { traceparent };
}

/** The run's span as parent, for what is done for the run outside of the request that accepted it. Never throws. */
export async function findRunContext({ db, logger }: Deps, runId: string): Promise<Context | undefined> {
  if (!isTracing()) return undefined;
  try {
    return runContext(runId, (await findRunTrace(db, runId))?.traceparent);
  } catch (error) {
    logger.debug({ err: error, run_id: runId }, 'the trace of a run could not be read');
    return undefined;
  }
}

/** That this request is about that run: an answer to an approval, a cancel, a re-run. */
export async function linkRequestToRun(deps: Deps, runId: string): Promise<void> {
  if (!isTracing()) return;
  annotateActiveSpan({ 'run.id': runId });
  linkActiveSpan(await findRunContext(deps, runId));
}

/**
 * The run's own span, from its acceptance to its end, told by whoever has written the end. Nobody waits for it; a process
 * that dies before leaves a trace whose nodes hang on a span that is missing.
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
