// Drawings of workflows that are archived or whose project is deleted: nobody can read them any more, and their runs have
// graphs of their own. docs/operate/operations.md, "Retention".
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { deleteRows, toBatch, type Batch } from './retention-repository.js';

const isGone = sql`(archived_at IS NOT NULL
  OR project_id IN (SELECT id FROM projects WHERE deleted_at IS NOT NULL))`;

/** Deletes the versions, and empties the workflows themselves, whose rows stay for the books. */
export async function deleteGoneDrawings(db: Db, limit: number): Promise<Batch> {
  const ofGone = sql`workflow_id IN (SELECT id FROM workflows WHERE ${isGone})`;
  const versions = await deleteRows(db, 'workflow_versions', ofGone, limit);
  const { numAffectedRows } = await sql`
    UPDATE workflows SET document = '{}', secrets_enc = NULL, readme_guide = '', tool_fields = NULL
    WHERE id IN (
      SELECT id FROM workflows
      WHERE ${isGone} AND (secrets_enc IS NOT NULL OR readme_guide <> '' OR document::text <> '{}')
      LIMIT ${limit}::integer
    )`.execute(db);
  return toBatch({ workflow_versions: versions, workflows: Number(numAffectedRows ?? 0) }, limit);
}
