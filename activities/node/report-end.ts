// Reports a run's end to the API. Only the API writes the status of a run.
import { ApplicationFailure } from '@temporalio/activity';
import { request } from 'undici';
import type { FinishRunInput, RunError } from '../../contract/activities.js';
import { FINISH_SEQUENCE, type NodeFacts } from '../../contract/nodes.js';
import { withTraceparent } from '../../config/spans.js';
import { findNodeError } from '../../db/nodes/node-results-repository.js';
import type { Database } from '../../db/core/client.js';
import type { ExecutionError, ExecutionUpdate } from '../../db/runs/execution-update.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';

interface ReportDeps {
  db: Database;
  apiInternalUrl: string;
  internalServiceToken: string;
}

export type ReportRunEnd = (end: FinishRunInput) => Promise<void>;

const TIMEOUT_MS = 10_000;
/**
 * The time that a node's activity waits for its report of the run's end. After that the run workflow reports the end.
 */
const WITH_NODE_MS = 2_000;

/**
 * Idempotent by `sequence`. Temporal retries it until the API has answered. Throws a retryable failure for everything
 * that may be repaired (the API is down, a token is being rotated).
 */
export async function reportRunEnd(deps: ReportDeps, end: FinishRunInput): Promise<void> {
  const update: ExecutionUpdate = { sequence: end.sequence, status: end.status };
  if (end.status === 'cancelled') update.error = { code: 'cancelled', message: 'The run was cancelled.' };
  if (end.error !== undefined) await describeError(deps.db, end.runId, end.error, update);
  const answer = await request(`${deps.apiInternalUrl}/api/v1/workflows/execution-update/${end.runId}/`, {
    method: 'POST',
    headers: withTraceparent({
      authorization: `Bearer ${deps.internalServiceToken}`,
      'content-type': 'application/json',
    }),
    body: JSON.stringify(update),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  await answer.body.dump();
  // 409: another process (the reconciler) has ended the run. 404: the run is deleted. In both cases nothing is left to
  // report.
  if (answer.statusCode === 200 || answer.statusCode === 404 || answer.statusCode === 409) return;
  throw ApplicationFailure.create({
    type: 'report_refused',
    message: `The API answered the report with status ${answer.statusCode}.`,
  });
}

/** Reports the run's end after its last node has succeeded. If the report fails, the run workflow reports the end. */
export async function reportWithLastNode(report: ReportRunEnd, runId: string): Promise<Pick<NodeFacts, 'isEnded'>> {
  const limit = startDeadline(WITH_NODE_MS);
  try {
    await untilAborted(report({ runId, sequence: FINISH_SEQUENCE, status: 'succeed' }), limit.signal);
    return { isEnded: true };
  } catch {
    return {};
  } finally {
    limit.clear();
  }
}

/** A node whose activity could not record its own end (it timed out) is closed by this report. */
async function describeError(
  db: Database,
  runId: string,
  { code, node }: RunError,
  update: ExecutionUpdate,
): Promise<void> {
  const recorded = node === undefined ? undefined : await findNodeError(db, { runId, ...node });
  const error: ExecutionError = { code, message: recorded ?? `The run failed: ${code}.`, node_id: node?.nodeId };
  update.error = error;
  if (node !== undefined && recorded === undefined) {
    update.nodes = { [node.nodeId]: { status: 'failed', error: { code, message: error.message } } };
  }
}
