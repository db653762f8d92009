import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { isModelCall } from '../nodes/provider-calls-repository.js';

export interface RunTokens {
  input: number;
  output: number;
}

/** Returns the tokens that the model calls of the run and of the runs below it have used so far. */
export async function readRunTokens(db: Db, runId: string): Promise<RunTokens> {
  const { rows } = await sql<RunTokens>`
    WITH RECURSIVE below AS (
      SELECT ${runId}::uuid AS id
      UNION ALL
      SELECT child.id FROM runs AS child JOIN below ON child.parent_run_id = below.id
    )
    SELECT ${sumOf('input_tokens')} AS input, ${sumOf('output_tokens')} AS output
    FROM below JOIN provider_calls AS call ON call.run_id = below.id
    WHERE ${isModelCall} AND call.state IN ('applied', 'cut')`.execute(db);
  return rows[0]!;
}

/** Capped at the largest integer that clients read exactly from JSON, because providers may report any number. */
function sumOf(column: 'input_tokens' | 'output_tokens') {
  return sql<number>`least(coalesce(sum(${sql.ref(`call.${column}`)}), 0), ${Number.MAX_SAFE_INTEGER}::bigint)::bigint`;
}
