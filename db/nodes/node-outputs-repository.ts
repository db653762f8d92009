// Reads outputs of nodes: those from which the API renders the input of a later node, and the result of a run.
import { sql } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { anyOf } from '../core/statement.js';
import { resultBytes } from './result-bytes.js';

export interface MeasuredOutput {
  nodeId: string;
  /** The total size of the masked and the sealed form. */
  sizeBytes: number;
  /** True if the node has succeeded and its output has expired. */
  isGone: boolean;
}

/**
 * Returns the nodes among `nodeIds` that had succeeded at `moment`: a node that started then could read their outputs.
 */
export async function measureOutputs(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: string[],
  moment: Date,
): Promise<MeasuredOutput[]> {
  if (nodeIds.length === 0) return [];
  const { rows } = await sql<MeasuredOutput>`
    SELECT node_id AS "nodeId", ${resultBytes} + coalesce(octet_length(result_enc), 0) AS "sizeBytes",
      result IS NULL AS "isGone"
    FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ANY(${nodeIds}) AND status = 'succeed'
      AND finished_at <= ${moment}::timestamptz + interval '1 millisecond'`.execute(db);
  return rows;
}

export interface OutputTexts {
  nodeId: string;
  /** JSON text with secrets masked. */
  result: string;
  /** The unmasked JSON text, sealed; null if masking changed nothing. */
  resultEnc: Buffer | null;
}

/** Leaves out outputs that have expired meanwhile. */
export async function readOutputs(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: string[],
): Promise<OutputTexts[]> {
  if (nodeIds.length === 0) return [];
  return db
    .selectFrom('node_results')
    .select(['node_id as nodeId', 'result_enc as resultEnc'])
    .select((row) => row.cast<string>('result', 'text').as('result'))
    .where('run_id', '=', runId)
    .where('path', '=', path)
    .where('node_id', '=', anyOf(nodeIds))
    .where('result', 'is not', null)
    .execute();
}
