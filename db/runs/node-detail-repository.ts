// Reads one node of a run for readers.
import { sql } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { markResults } from '../files/deleted-marks.js';
import type { StoredRunStatus } from '../core/tables.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { isExpired } from '../retention/retention-repository.js';
import { isoText } from '../core/iso-text.js';
import { iterationCounts } from './iteration-counts.js';
import { storedWait, waitedFor, type StoredWait } from './stored-wait.js';
import { openApprovals, TOGETHER_BYTES, type PolledNode } from './poll-repository.js';

export interface NodeDetail {
  runStatus: StoredRunStatus;
  /** True if the contents of the run have expired, even if they are not deleted yet. */
  isExpired: boolean;
  /** JSON text; only for `Draft`. */
  nodeErrors: string | null;
  /** Undefined if the node has no row. */
  node: StoredNode | undefined;
}

/** The entry of a poll together with attempts and times. */
export interface StoredNode extends PolledNode {
  attempts: number;
  attemptStartedAt: Date;
  /** ISO 8601, as JSON writes a Date; so is `finishedAt`. */
  startedAt: string;
  finishedAt: string | null;
  /** Null until an attempt claims the node. No attempt claims a condition, for example. */
  queuedMs: number | null;
  /**
   * For a node that only waits, the kind of its wait, even after its end. For other nodes, the kind of a wait that is
   * open now, or null.
   */
  waitedFor: StoredWait['for'] | null;
}

type Row = Omit<NodeDetail, 'node'> & (StoredNode | { [Column in keyof StoredNode]: null });

/** Returns undefined if the workflow has no such run. Does not read the contents of an expired run. */
export async function findNodeDetail(
  db: Db,
  workflowId: number,
  { runId, path, nodeId }: NodeKey,
  retentionDays: number,
): Promise<NodeDetail | undefined> {
  const { rows } = await sql<Row>`
    SELECT run.status AS "runStatus", run.is_expired AS "isExpired", CASE WHEN NOT run.is_expired THEN run.node_errors::text END AS "nodeErrors",
      node.node_id AS id, node.status, node.attempts, ${isoText(sql`node.started_at`)} AS "startedAt",
      ${isoText(sql`node.finished_at`)} AS "finishedAt", coalesce(node.attempt_started_at, node.started_at) AS "attemptStartedAt", node.queued_ms AS "queuedMs",
      node.error_code AS "errorCode", node.is_handled AS "isHandled", node.is_reused AS "isReused", node.source, node.is_stale AS "isStale", CASE WHEN NOT run.is_expired THEN node.error_message END AS "errorMessage",
      CASE WHEN NOT run.is_expired AND ${resultBytes} <= ${TOGETHER_BYTES} THEN result::text END AS result,
      CASE WHEN NOT run.is_expired AND ${resultBytes} > ${TOGETHER_BYTES} THEN node.result_bytes END AS "apartBytes", ${openApprovals} AS approvals, ${storedWait} AS waiting, ${waitedFor} AS "waitedFor", ${iterationCounts} AS iterations
    FROM (SELECT *, ${isExpired(retentionDays)} AS is_expired FROM runs WHERE id = ${runId}) run
    LEFT JOIN node_results node ON node.run_id = run.id AND node.path = ${path} AND node.node_id = ${nodeId}
      AND NOT node.is_iteration
    WHERE run.workflow_id = ${workflowId}`.execute(db);
  const [row] = await markResults(db, [runId], rows);
  if (row === undefined) return undefined;
  const { runStatus, isExpired: expired, nodeErrors, ...node } = row;
  return { runStatus, isExpired: expired, nodeErrors, node: node.id === null ? undefined : node };
}
