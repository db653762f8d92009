// Keeps how an attempt ended that is followed by another one. Whatever happens here, the outcome of the attempt stays the same.
import { keepEndedAttempt } from '../../db/nodes/node-attempts-repository.js';
import { takeAttemptBack } from '../../db/nodes/node-results-repository.js';
import type { NodeError } from '../../graph/node-error.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import type { NodeDeps, NodeTask } from './node-step.js';
import { toErrorMessage } from './record.js';

/** While the database is away, a retry waits no longer than this for its predecessor to be kept. */
const KEEP_WITHIN_MS = 2_000;

type KeepDeps = Pick<NodeDeps, 'db' | 'logger'>;

/**
 * `number`: by the node's claim; undefined for a node that is executed without one. Never throws. If it fails, the next
 * attempt regards this one as lost with its worker.
 */
export async function keepAttempt(
  deps: KeepDeps,
  task: NodeTask,
  number: number | undefined,
  error: NodeError,
): Promise<void> {
  if (number === undefined) return;
  const { runId, path, nodeId, run, startedAt } = task;
  const message = toErrorMessage(error, run.masker);
  const ended = { runId, path, nodeId, number, code: error.code, message, tookMs: performance.now() - startedAt };
  await within(deps, task, () => keepEndedAttempt(deps.db, ended));
}

/** For an attempt that has done nothing: it counts as none. Like `keepAttempt`, it never throws. */
export async function takeBack(deps: KeepDeps, task: NodeTask, number: number | undefined): Promise<void> {
  if (number !== undefined) await within(deps, task, () => takeAttemptBack(deps.db, task, number));
}

async function within({ logger }: KeepDeps, { runId, nodeId }: NodeTask, write: () => Promise<void>): Promise<void> {
  const limit = startDeadline(KEEP_WITHIN_MS);
  try {
    await untilAborted(write(), limit.signal);
  } catch (cause) {
    logger.warn({ run_id: runId, node_id: nodeId, err: cause }, 'an attempt that is retried was not kept');
  } finally {
    limit.clear();
  }
}
