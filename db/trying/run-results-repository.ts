// Results of runs that are pinned.
import { sql } from 'kysely';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { isExpired } from '../retention/retention-repository.js';

export interface ResultToPin {
  status: 'succeed' | 'failed';
  handle: Handle;
  alsoHandles: Handle[] | null;
  /** JSON text with secrets masked. Neither it nor `resultEnc` is here where they are too large. */
  result: string | null;
  resultEnc: Buffer | null;
  isLarge: boolean;
  errorCode: string | null;
  errorMessage: string | null;
}

/** Undefined where the workflow has no such run, or the node has not ended in it, or its results have expired. */
export async function findResultToPin(
  db: Db,
  workflowId: number,
  { runId, path, nodeId }: NodeKey,
  { retentionDays, limitBytes }: { retentionDays: number; limitBytes: number },
): Promise<ResultToPin | undefined> {
  const { rows } = await sql<ResultToPin>`
    SELECT node.status, node.handle, node.also_handles AS "alsoHandles", size > ${limitBytes}::integer AS "isLarge",
      CASE WHEN size <= ${limitBytes}::integer THEN node.result::text END AS result,
      CASE WHEN size <= ${limitBytes}::integer THEN node.result_enc END AS "resultEnc",
      node.error_code AS "errorCode", node.error_message AS "errorMessage"
    FROM (
      SELECT *, greatest(${resultBytes}, octet_length(result_enc), 0) AS size FROM node_results
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND NOT is_iteration AND status <> 'in progress'
    ) AS node JOIN runs ON runs.id = node.run_id
    WHERE runs.workflow_id = ${workflowId} AND NOT ${isExpired(retentionDays)}`.execute(db);
  return rows[0];
}
