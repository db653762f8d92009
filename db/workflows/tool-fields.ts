// The trigger fields of workflows that are offered as tools, stored separately so that listing tools reads no drawing.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';

/** Bounds the size of a page, which lists 50 tools. */
const MAX_FIELDS_BYTES = 32 * 1024;

/**
 * Stores the fields of a workflow that is offered as a tool, and clears those of any other workflow. Must be called
 * after each change of the drawing or of `is_tool`.
 */
export async function keepToolFields(transaction: Db, workflowId: number): Promise<void> {
  await sql`
    UPDATE workflows SET tool_fields = CASE WHEN is_tool THEN ${toolFieldsOf(sql.ref('workflows.document'))} END
    WHERE id = ${workflowId} AND (is_tool OR tool_fields IS NOT NULL)`.execute(transaction);
}

/**
 * The `input_fields` of the node that `inputFieldsOf` selects (graph/input.ts): the start node, else the
 * first trigger. Null if there are none or they are too large. With `OFFSET 0` the drawing is parsed once,
 * not once for each node.
 */
export function toolFieldsOf(document: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    SELECT CASE WHEN octet_length(fields::text) <= ${sql.lit(MAX_FIELDS_BYTES)} THEN fields END
    FROM (SELECT ${document} -> 'nodes' AS nodes, ${document} -> 'start_node' AS start_node OFFSET 0) AS drawing
    CROSS JOIN LATERAL json_array_elements(CASE WHEN json_typeof(nodes) = 'array' THEN nodes ELSE '[]' END)
      WITH ORDINALITY AS drawn (node, ordinal)
    CROSS JOIN LATERAL (
      SELECT json_typeof(node -> 'id') = 'string' AND json_typeof(start_node) = 'string'
        AND node ->> 'id' = start_node #>> '{}' AS is_start, node -> 'data' -> 'input_fields' AS fields
    ) AS judged
    WHERE json_typeof(node) = 'object' AND (is_start OR node ->> 'type' = 'trigger-node')
    ORDER BY is_start IS TRUE DESC, ordinal LIMIT 1
  )`;
}
