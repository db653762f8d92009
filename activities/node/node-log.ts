// What the log says of a node's tries: that one failed and another follows, and that the node is given up. Codes and
// numbers; the words of a failure may quote a secret, and are for the run's owner.
import type { Logger } from '../../config/logger.js';
import { annotateActiveSpan } from '../../config/spans.js';
import type { NodeTask } from './run-node.js';
import type { TryOutcome } from '../worker/worker-metrics.js';

export interface TryReport {
  outcome: TryOutcome;
  attempt: number;
  /** Of the node's failure. */
  code?: string | undefined;
  /** Until the next try. */
  delayMs?: number | undefined;
}

const SAID: Partial<Record<TryOutcome, string>> = {
  retried: 'node is tried again',
  cut: 'node goes on as a normal activity',
  handed_back: 'node is handed back to another worker',
};

export function reportTry(logger: Logger, { runId, nodeId, node }: NodeTask, report: TryReport): void {
  const { outcome, attempt, code, delayMs } = report;
  annotateActiveSpan({ 'node.attempt': attempt, 'node.outcome': outcome, ...(code && { 'error.type': code }) });
  const words = SAID[outcome] ?? (code === undefined ? undefined : 'node failed');
  if (words === undefined) return;
  logger.info({ run_id: runId, node_id: nodeId, kind: node.kind, attempt, error_code: code, delay_ms: delayMs }, words);
}
