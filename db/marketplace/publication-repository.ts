// Publishes workflows on the marketplace and unpublishes them (docs/use/interface-notes/catalog.md).
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { firstFreeSlug, toSlug } from './slug.js';

export type MissingField = 'market_title' | 'short_description' | 'available_languages';

export interface PublicationOutcome {
  /** The required fields that the workflow lacks. If there are any, nothing was changed. */
  missingFields: MissingField[];
  lacksTemplateRun: boolean;
}

/**
 * Publishes the drawing of the newest template run, or publishes it again: later changes of the workflow reach the
 * marketplace only with the next publication. Holds the workflow's lock, so that no other request empties a field
 * between the check and the publication. Returns undefined if the workflow no longer exists.
 */
export function publishWorkflow(db: Db, workflowId: number): Promise<PublicationOutcome | undefined> {
  return inTransaction(db, async (transaction) => {
    const workflow = await transaction
      .selectFrom('workflows')
      .select(['market_title', 'short_description', 'available_languages', 'slug'])
      .where('id', '=', workflowId)
      .where('archived_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (workflow === undefined) return undefined;
    const snapshot = await findTemplateSnapshot(transaction, workflowId);
    const missingFields = (['market_title', 'short_description', 'available_languages'] as const).filter(
      (field) => workflow[field].length === 0,
    );
    if (snapshot === undefined || missingFields.length > 0) {
      return { missingFields, lacksTemplateRun: snapshot === undefined };
    }
    const slug = workflow.slug ?? (await chooseSlug(transaction, workflow.market_title, workflowId));
    await transaction
      .updateTable('workflows')
      .set({
        is_published: true,
        slug,
        published_snapshot: snapshot,
        first_published_at: sql<Date>`coalesce(first_published_at, now())`,
        last_published_at: sql<Date>`now()`,
        revision: sql<number>`revision + 1`,
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', workflowId)
      .execute();
    return { missingFields, lacksTemplateRun: false };
  });
}

/**
 * Unpublishes the workflow, which keeps its slug; copies stay. If it is not published, only its revision and the time
 * of its update change. Returns false if it is gone.
 */
export async function unpublishWorkflow(db: Db, workflowId: number): Promise<boolean> {
  const result = await db
    .updateTable('workflows')
    .set({ is_published: false, revision: sql<number>`revision + 1`, updated_at: sql<Date>`now()` })
    .where('id', '=', workflowId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

async function findTemplateSnapshot(db: Db, workflowId: number): Promise<Buffer | undefined> {
  const run = await db
    .selectFrom('runs')
    .select('snapshot_hash')
    .where('workflow_id', '=', workflowId)
    .where('use_as_marketplace_template', '=', true)
    .where('status', '=', 'Succeeded')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return run?.snapshot_hash;
}

/**
 * The advisory lock serializes first publications until their commit, so that two with the same title cannot choose
 * the same slug. A title without Latin letters or digits yields `workflow-ID`.
 */
async function chooseSlug(db: Db, title: string, workflowId: number): Promise<string> {
  await sql`SELECT pg_advisory_xact_lock(hashtext('workflows.slug'))`.execute(db);
  const base = toSlug(title) || `workflow-${workflowId}`;
  const rows = await db.selectFrom('workflows').select('slug').where('slug', 'like', `${base}%`).execute();
  return firstFreeSlug(base, new Set(rows.map((row) => row.slug ?? '')));
}
