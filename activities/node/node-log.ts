// Log entries about a node's attempts: an attempt failed and is retried, or the node has failed for good. They hold
// codes and numbers only, because the message of a failure may quote a secret and is for the run's owner.
import type { Logger } from '../../telemetry/logger.js';
import { annotateActiveSpan } from '../../telemetry/spans.js';
import type { NodeTask } from './node-step.js';

/**
 * How an attempt ended. `retried`: another attempt follows. `handed_back`: the worker is stopping, and another worker
 * continues.
 */
export type AttemptOutcome = 'ended' | 'retried' | 'cancelled' | 'handed_back' | 'waits' | 'internal_error';

interface AttemptReport {
  outcome: AttemptOutcome;
  attempt: number;
  /** The code of the node's failure. */
  code?: string | undefined;
  /** The delay until the next attempt. */
  delayMs?: number | undefined;
}

const SAID: Partial<Record<AttemptOutcome, string>> = {
  retried: 'node is attempted again',
  handed_back: 'node is handed back to another worker',
  waits: 'node waits for a connection',
};

export function logAttempt(logger: Logger, { runId, nodeId, node }: NodeTask, report: AttemptReport): void {
  const { outcome, attempt, code, delayMs } = report;
  annotateActiveSpan({ 'node.attempt': attempt, 'node.outcome': outcome, ...(code && { 'error.type': code }) });
  const words = SAID[outcome] ?? (code === undefined ? undefined : 'node failed');
  if (words === undefined) return;
  logger.info({ run_id: runId, node_id: nodeId, kind: node.kind, attempt, error_code: code, delay_ms: delayMs }, words);
}
