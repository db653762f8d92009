// What the log says of a node's attempts: that one failed and another follows, or that the node is given up. Codes and
// numbers only: the words of a failure may quote a secret, and are for the run's owner.
import type { Logger } from '../../config/logger.js';
import { annotateActiveSpan } from '../../config/spans.js';
import type { NodeTask } from './node-step.js';
import type { AttemptOutcome } from '../worker/worker-metrics.js';

interface AttemptReport {
  outcome: AttemptOutcome;
  attempt: number;
  /** Of the node's failure. */
  code?: string | undefined;
  /** Until the next attempt. */
  delayMs?: number | undefined;
}

const SAID: Partial<Record<AttemptOutcome, string>> = {
  retried: 'node is attempted again',
  cut: 'node continues as a normal activity',
  handed_back: 'node is handed back to another worker',
};

export function logAttempt(logger: Logger, { runId, nodeId, node }: NodeTask, report: AttemptReport): void {
  const { outcome, attempt, code, delayMs } = report;
  annotateActiveSpan({ 'node.attempt': attempt, 'node.outcome': outcome, ...(code && { 'error.type': code }) });
  const words = SAID[outcome] ?? (code === undefined ? undefined : 'node failed');
  if (words === undefined) return;
  logger.info({ run_id: runId, node_id: nodeId, kind: node.kind, attempt, error_code: code, delay_ms: delayMs }, words);
}
