// Drafts: the unsaved drawing of a user, one for each workflow. Nobody else reads it, and only test runs execute it.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import { referFromDrawing } from '../files/references-repository.js';
import { isOldDraft } from '../retention/retention-repository.js';

/** The tables of drafts, and of drafts as they were before the newest answer of the assistant in the editor. */
const DRAFT_TABLES = ['workflow_drafts', 'answer_baselines'] as const;

export interface DraftKey {
  workflowId: number;
  userId: number;
}

export type Draft = InferResult<ReturnType<typeof selectDraft>>[number];

export interface NewDraft extends DraftKey {
  /** JSON text, secrets masked. */
  document: string;
  secretsEnc: Buffer | null;
  baseVersion: number;
  /** The run of the assistant in the editor that writes the draft; null if the user does. */
  writtenBy: string | null;
}

export function findDraft(db: Db, key: DraftKey): Promise<Draft | undefined> {
  return selectDraft(db, key).executeTakeFirst();
}

/** Returns the size of the drawing as JSON text; 0 if there is no draft. */
export async function measureDraft(db: Db, key: DraftKey): Promise<number> {
  const draft = await draftOf(db, key)
    .select(sql<number>`octet_length(document::text)`.as('bytes'))
    .executeTakeFirst();
  return draft?.bytes ?? 0;
}

interface PlaceOfDraft {
  id: number;
  project_id: number;
  version: number;
}

/**
 * Locks the user's drafts in the project until the end of the transaction, and keeps the workflow and the membership
 * from going away meanwhile: a transaction that removes one of them waits, and then deletes the draft that this
 * transaction has stored. Returns undefined if one of them is gone.
 */
export async function lockDraft(transaction: Db, { workflowId, userId }: DraftKey): Promise<PlaceOfDraft | undefined> {
  const workflow = await transaction
    .selectFrom('workflows')
    .select(['id', 'project_id', 'version'])
    .where('id', '=', workflowId)
    .where('archived_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  if (workflow === undefined) return undefined;
  const member = await transaction
    .selectFrom('project_members')
    .select('role')
    .where('project_id', '=', workflow.project_id)
    .where('user_id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return member && workflow;
}

/** Requires the transaction of `lockDraft`. */
export async function storeDraft(transaction: Db, draft: NewDraft): Promise<Draft> {
  const { workflowId, userId, document, secretsEnc, baseVersion, writtenBy } = draft;
  const values = { document, secrets_enc: secretsEnc, base_version: baseVersion, written_by: writtenBy };
  const stored = await transaction
    .insertInto('workflow_drafts')
    .values({ workflow_id: workflowId, user_id: userId, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['workflow_id', 'user_id'])
        .doUpdateSet({ ...values, tag: sql<string>`gen_random_uuid()`, updated_at: sql<Date>`now()` }),
    )
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  await referFromDrawing(transaction, { workflowId, version: `draft/${userId}`, document });
  return stored;
}

/**
 * Deletes the draft, and the draft as it was before the newest answer of the assistant, because nothing is left that
 * could be undone. Requires a transaction.
 */
export async function deleteDraft(transaction: Db, { workflowId, userId }: DraftKey): Promise<void> {
  for (const table of DRAFT_TABLES) {
    await transaction.deleteFrom(table).where('workflow_id', '=', workflowId).where('user_id', '=', userId).execute();
  }
}

/** Requires the transaction that archives the workflow or deletes the project. */
export async function deleteDraftsOf(
  transaction: Db,
  of: { workflowId: number } | { projectId: number },
): Promise<void> {
  const which = 'workflowId' in of ? sql`id = ${of.workflowId}` : sql`project_id = ${of.projectId}`;
  for (const table of DRAFT_TABLES) {
    await sql`
      DELETE FROM ${sql.table(table)} WHERE workflow_id IN (SELECT id FROM workflows WHERE ${which})`.execute(
      transaction,
    );
  }
}

const COLUMNS = [
  sql<string>`document::text`.as('document'),
  'secrets_enc' as const,
  'base_version' as const,
  'tag' as const,
  'updated_at' as const,
  'written_by' as const,
] as const;

function selectDraft(db: Db, key: DraftKey) {
  return draftOf(db, key).select(COLUMNS);
}

function draftOf(db: Db, { workflowId, userId }: DraftKey) {
  return db
    .selectFrom('workflow_drafts')
    .where('workflow_id', '=', workflowId)
    .where('user_id', '=', userId)
    .where(sql<boolean>`NOT ${isOldDraft}`);
}
