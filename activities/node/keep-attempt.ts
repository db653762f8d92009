// Keeps how an attempt ended that is followed by another one. It is for readers only: whatever happens here, the outcome of
// the attempt stays the same.
import { keepEndedAttempt } from '../../db/nodes/node-attempts-repository.js';
import type { NodeError } from '../../graph/node-error.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import type { NodeDeps, NodeTask } from './node-step.js';
import { toErrorMessage } from './record-node.js';

/** While the database is away, a retry waits no longer than this for its predecessor to be kept. */
const KEEP_WITHIN_MS = 2_000;

/**
 * `number`: by the node's claim; undefined for a node that is executed without one. Never throws. If it fails, readers
 * see that the attempt was lost with its worker.
 */
export async function keepAttempt(
  { db, logger }: Pick<NodeDeps, 'db' | 'logger'>,
  task: NodeTask,
  number: number | undefined,
  error: NodeError,
): Promise<void> {
  if (number === undefined) return;
  const { runId, path, nodeId, run, startedAt } = task;
  const limit = startDeadline(KEEP_WITHIN_MS);
  try {
    const message = toErrorMessage(error, run.masker);
    const ended = { runId, path, nodeId, number, code: error.code, message, tookMs: performance.now() - startedAt };
    await untilAborted(keepEndedAttempt(db, ended), limit.signal);
  } catch (cause) {
    logger.warn({ run_id: runId, node_id: nodeId, err: cause }, 'an attempt that is retried was not kept');
  } finally {
    limit.clear();
  }
}
