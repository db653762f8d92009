// Reads the drawings of workflows and of their versions, to be sealed, and replaces them.
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { DUE_BYTES, DUE_ROWS, HAS_HEADERS } from './due-rows.js';

export interface DrawingToSeal {
  table: 'workflows' | 'workflow_versions';
  workflowId: number;
  /** Null: the workflow itself. */
  version: number | null;
  projectId: number;
  /** Null where no node has headers. */
  document: Record<string, unknown> | null;
  secretsEnc: Buffer | null;
  /** The hash of the document's text, and the bytes of the row. */
  digest: string;
  bytes: number;
}

/** Returns the next workflows in the order of their ids. */
export async function readWorkflowsToSeal(db: Db, afterId: number): Promise<DrawingToSeal[]> {
  const { rows } = await sql<DrawingToSeal>`
    WITH page AS (
      SELECT id, octet_length(document::text) AS bytes FROM workflows WHERE id > ${afterId} ORDER BY id LIMIT ${DUE_ROWS}::integer
    ), due AS (
      SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before FROM page
    )
    SELECT 'workflows' AS table, id AS "workflowId", NULL::integer AS version, project_id AS "projectId",
      CASE WHEN ${HAS_HEADERS} THEN document END AS document, secrets_enc AS "secretsEnc", md5(document::text) AS digest,
      octet_length(document::text) + coalesce(octet_length(secrets_enc), 0) AS bytes
    FROM due JOIN workflows USING (id) WHERE bytes_before < ${DUE_BYTES}::integer ORDER BY id`.execute(db);
  return rows;
}

/** Returns the next versions in the order of their workflows. */
export async function readVersionsToSeal(
  db: Db,
  after: [workflowId: number, version: number],
): Promise<DrawingToSeal[]> {
  const { rows } = await sql<DrawingToSeal>`
    WITH page AS (
      SELECT workflow_id, version, octet_length(document::text) AS bytes FROM workflow_versions
      WHERE (workflow_id, version) > (${after[0]}::integer, ${after[1]}::integer)
      ORDER BY workflow_id, version LIMIT ${DUE_ROWS}::integer
    ), due AS (
      SELECT workflow_id, version, sum(bytes) OVER (ORDER BY workflow_id, version) - bytes AS bytes_before FROM page
    )
    SELECT 'workflow_versions' AS table, workflow_id AS "workflowId", version,
      (SELECT project_id FROM workflows WHERE id = workflow_id) AS "projectId",
      CASE WHEN ${HAS_HEADERS} THEN document END AS document, secrets_enc AS "secretsEnc", md5(document::text) AS digest,
      octet_length(document::text) + coalesce(octet_length(secrets_enc), 0) AS bytes
    FROM due JOIN workflow_versions USING (workflow_id, version)
    WHERE bytes_before < ${DUE_BYTES}::integer ORDER BY workflow_id, version`.execute(db);
  return rows;
}

/**
 * Replaces the drawing of a workflow or version, if it is still the one that was read. It stays the same version and
 * revision, because it runs the same.
 */
export async function replaceDrawing(
  db: Database,
  { table, workflowId, version, projectId, digest, secretsEnc, bytes }: DrawingToSeal,
  sealed: { document: string; secretsEnc: Buffer },
): Promise<void> {
  const isRead = sql<boolean>`md5(document::text) = ${digest} AND secrets_enc IS NOT DISTINCT FROM ${secretsEnc}`;
  await db.transaction().execute(async (trx) => {
    await sql`SELECT set_config('workflow_service.is_sealing', 'on', true)`.execute(trx);
    if (table === 'workflows') {
      await trx
        .updateTable('workflows')
        .set({ document: sealed.document, secrets_enc: sealed.secretsEnc })
        .where('id', '=', workflowId)
        .where(isRead)
        .execute();
      return;
    }
    // No trigger counts changes of versions, which are otherwise never updated.
    await sql`
      WITH changed AS (
        UPDATE workflow_versions SET document = ${sealed.document}, secrets_enc = ${sealed.secretsEnc}
        WHERE workflow_id = ${workflowId} AND version = ${version} AND ${isRead}
        RETURNING octet_length(document::text) + octet_length(secrets_enc) - ${bytes}::integer AS added
      )
      SELECT add_stored_bytes(${projectId}, added, false) FROM changed`.execute(trx);
  });
}
