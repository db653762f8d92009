// The versions of a drawing. `workflows` has the current one, `workflow_versions` the earlier ones.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { createStatement } from '../core/statement.js';

export interface DrawingVersion {
  version: number;
  createdAt: Date;
  authorId: number;
  isCurrent: boolean;
}

/** The limit for a workflow, including the current version; the oldest are deleted. */
const KEPT_VERSIONS = 1000;

/**
 * Stores the current version before the caller replaces it. The caller must have locked the workflow's row. Deletes
 * versions beyond `KEPT_VERSIONS`.
 */
export async function storeVersion(trx: Db, workflowId: number): Promise<void> {
  await trx
    .insertInto('workflow_versions')
    .columns(['workflow_id', 'version', 'author_id', 'document', 'secrets_enc', 'created_at'])
    .expression((row) =>
      row
        .selectFrom('workflows')
        .select(['id', 'version'])
        .select((present) => present.fn.coalesce('version_author_id', 'author_id').as('author_id'))
        .select(['document', 'secrets_enc', 'version_created_at'])
        .where('id', '=', workflowId),
    )
    .execute();
  await sql`
    DELETE FROM workflow_versions WHERE workflow_id = ${workflowId}
      AND version <= (SELECT version FROM workflows WHERE id = ${workflowId}) + 1 - ${KEPT_VERSIONS}::integer`.execute(
    trx,
  );
}

/** Lists newest first. The caller must have checked access. */
export async function listVersions(
  db: Db,
  { workflowId, limit, offset }: { workflowId: number; limit: number; offset: number },
): Promise<{ total: number; versions: DrawingVersion[] }> {
  const { rows: counted } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM (${versionsOf(workflowId)}) AS version`.execute(db);
  const total = counted[0]?.total ?? 0;
  if (offset >= total) return { total, versions: [] };
  const { rows } = await sql<DrawingVersion>`
    SELECT version, "createdAt", "authorId", "isCurrent" FROM (${versionsOf(workflowId)}) AS version
    ORDER BY version DESC LIMIT ${limit} OFFSET ${offset}`.execute(db);
  return { total, versions: rows };
}

/**
 * Returns the version with its drawing as JSON text, secrets masked. Undefined if it does not exist, or was deleted.
 */
export async function findVersion(
  db: Db,
  workflowId: number,
  version: number,
): Promise<(DrawingVersion & { document: string }) | undefined> {
  const { rows } = await sql<DrawingVersion & { document: string }>`
    SELECT version, "createdAt", "authorId", "isCurrent", document::text AS document
    FROM (${versionsOf(workflowId)}) AS version WHERE version = ${version}`.execute(db);
  return rows[0];
}

/**
 * Returns the size of the current drawing as JSON text, or of the version if that is larger; also for an archived
 * workflow. 0 if there is no such workflow.
 */
export async function measureVersion(db: Db, workflowId: number, version: number | undefined): Promise<number> {
  const [row] = await selectSize(db, { workflowId, version: version ?? null });
  return row?.bytes ?? 0;
}

const selectSize = createStatement<{ workflowId: number; version: number | null }, { bytes: number }>(
  ['workflowId', 'version'],
  ({ workflowId, version }) => sql`
    SELECT coalesce(max(octet_length(document::text)), 0) AS bytes FROM (
      SELECT document FROM workflows WHERE id = ${workflowId}::integer
      UNION ALL SELECT document FROM workflow_versions
      WHERE workflow_id = ${workflowId}::integer AND version = ${version}::integer
    ) AS drawing`,
);

/** Finds an earlier version only: the current one is in `workflows`. */
export function findStoredDrawing(
  db: Db,
  workflowId: number,
  version: number,
): Promise<{ document: Record<string, unknown>; secrets_enc: Buffer | null } | undefined> {
  return db
    .selectFrom('workflow_versions')
    .select(['document', 'secrets_enc'])
    .where('workflow_id', '=', workflowId)
    .where('version', '=', version)
    .executeTakeFirst();
}

function versionsOf(workflowId: number): RawBuilder<unknown> {
  return sql`
    SELECT version, version_created_at AS "createdAt", coalesce(version_author_id, author_id) AS "authorId",
      true AS "isCurrent", document
    FROM workflows WHERE id = ${workflowId} AND archived_at IS NULL
    UNION ALL
    SELECT version, created_at, author_id, false, document FROM workflow_versions WHERE workflow_id = ${workflowId}`;
}
