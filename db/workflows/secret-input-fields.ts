// Finds what to mask in the inputs of workflows without reading their drawings, which are large.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

/**
 * `document` has the secret fields of all nodes in the shape of a drawing; `secrets_enc` are the drawing's secrets.
 */
interface InputSecrets {
  id: number;
  project_id: number;
  secrets_enc: Buffer | null;
  document: { nodes: unknown[] };
}

/** Returns the secrets by workflow id. The caller must have checked access. */
export async function findInputSecrets(db: Db, workflowIds: number[]): Promise<Map<number, InputSecrets>> {
  const { rows } = await sql<InputSecrets>`
    SELECT id, project_id, secrets_enc, json_build_object('nodes', (
      SELECT coalesce(json_agg(json_build_object('data', json_build_object('input_fields', json_build_array(field)))), '[]')
      FROM json_array_elements(CASE WHEN json_typeof(document -> 'nodes') = 'array' THEN document -> 'nodes' ELSE '[]' END)
          AS drawn (node)
        CROSS JOIN LATERAL (SELECT node -> 'data' -> 'input_fields' AS fields) AS given
        CROSS JOIN LATERAL json_array_elements(CASE WHEN json_typeof(fields) = 'array' THEN fields ELSE '[]' END)
          AS listed (field)
      WHERE json_typeof(field) = 'object' AND field ->> 'is_secret' = 'true'
    )) AS document
    FROM workflows WHERE id = ANY(${workflowIds}::integer[])`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
