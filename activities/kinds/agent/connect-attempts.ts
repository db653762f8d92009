// Counts how often an agent tries to reach a server of its tools. The steps of an agent have no limit of their own,
// because a step makes several calls.
import type { Database } from '../../../db/core/client.js';
import { countStepFailures } from '../../../db/nodes/node-attempts-repository.js';
import { retryPolicyOf, type RetryPolicy } from '../../../graph/nodes/every-node.js';
import type { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';

/** The retry policy of the calls of agents without a `retry` of their own. */
export const AGENT_RETRIES: RetryPolicy = { maxAttempts: 4, delayMs: (attempt) => 500 * 2 ** (attempt - 1) };

/** The codes of failures to reach a server, or the provider of its tokens. */
const CODES = ['mcp_unreachable', 'mcp_protocol', 'timeout', 'network_error'];

/**
 * Returns the failure with the delay until the next attempt, or as a final one when the attempts at this step are used
 * up. Only for failures of a step that has made no other call.
 */
export async function withinAttempts(db: Database, task: NodeTask, failure: NodeFailure): Promise<NodeFailure> {
  if (!failure.isRetryable) return failure;
  const { maxAttempts, delayMs } = retryPolicyOf(task.node.data, AGENT_RETRIES);
  const made = 1 + (await countStepFailures(db, task, CODES));
  return made < maxAttempts ? failure.withDelay(delayMs(made)) : failure.asFinal();
}
