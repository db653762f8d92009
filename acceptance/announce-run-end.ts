// The effects of a run's end outside the database. The process that committed the end triggers them, once.
import type { Client } from '@temporalio/client';
import type { Logger } from '../telemetry/logger.js';
import { contextOf, isTracing, markFailed, runSpanId, startSpan } from '../telemetry/spans.js';
import type { Db } from '../db/core/client.js';
import type { RunChange } from '../db/runs/run-life.js';
import { findRunTrace } from '../db/runs/run-traces-repository.js';
import { deliverWake } from './wake-run.js';

export interface RunEndDeps {
  db: Db;
  temporal: Client;
  logger: Logger;
  metrics: { runsEnded: { inc(labels: { status: string }): void } };
}

/**
 * Reports the end of a run to metrics and traces, and wakes the run that waits for this end. Does nothing if there is
 * no end. If the process dies first, the reconciler wakes the waiting run, and the trace lacks the ended run's span.
 */
export function announceRunEnd(deps: RunEndDeps, runId: string, { runStatus, awaitedBy }: RunChange): void {
  if (runStatus === null || runStatus === 'In Progress') return;
  deps.metrics.runsEnded.inc({ status: runStatus });
  if (isTracing()) void writeRunSpan(deps, runId);
  if (awaitedBy !== undefined) void deliverWake(deps, awaitedBy);
}

async function writeRunSpan({ db, logger }: Pick<RunEndDeps, 'db' | 'logger'>, runId: string): Promise<void> {
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
