// The last activity of every run: reports its end to the API, which alone writes the life of a run.
import { ApplicationFailure } from '@temporalio/activity';
import { request } from 'undici';
import { withTraceparent } from '../../config/spans.js';
import { findNodeError } from '../../db/nodes/node-results-repository.js';
import type { Database } from '../../db/core/client.js';
import type { ExecutionError, ExecutionUpdate } from '../../db/runs/execution-update.js';

/** From the run workflow: ids and codes only. */
export interface FinishRunInput {
  runId: string;
  sequence: number;
  status: 'succeed' | 'failed' | 'cancelled';
  error?: { code: string; nodeId: string | undefined };
}

interface FinishRunDeps {
  db: Database;
  apiInternalUrl: string;
  internalServiceToken: string;
}

const TIMEOUT_MS = 10_000;

/**
 * Idempotent by `sequence`; Temporal repeats it until the API has answered. Throws a retryable failure for everything
 * that time or a person can mend (API away, token being rotated).
 */
export async function reportRunEnd(deps: FinishRunDeps, end: FinishRunInput): Promise<void> {
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
  // 409: somebody else (the reconciler) has ended the run. 404: the run is gone. Both leave nothing to report.
  if (answer.statusCode === 200 || answer.statusCode === 404 || answer.statusCode === 409) return;
  throw ApplicationFailure.create({
    type: 'report_refused',
    message: `The API answered the report with status ${answer.statusCode}.`,
  });
}

/** A node whose activity could not record its own end (it timed out) is closed by the report. */
async function describeError(
  db: Database,
  runId: string,
  { code, nodeId }: NonNullable<FinishRunInput['error']>,
  update: ExecutionUpdate,
): Promise<void> {
  const recorded = nodeId === undefined ? undefined : await findNodeError(db, { runId, path: '', nodeId });
  const error: ExecutionError = { code, message: recorded ?? `The run failed: ${code}.`, node_id: nodeId };
  update.error = error;
  if (nodeId !== undefined && recorded === undefined) {
    update.nodes = { [nodeId]: { status: 'failed', error: { code, message: error.message } } };
  }
}
