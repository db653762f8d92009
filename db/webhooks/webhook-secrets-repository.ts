// The sealed secrets that sign a project's webhooks. A webhook has one from the moment it is enabled.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

/**
 * Replaces the secret. If anybody has seen the previous one, it signs too for a day. Returns false if
 * the project is gone.
 */
export async function replaceWebhookSecret(db: Db, projectId: number, sealed: Buffer): Promise<boolean> {
  const result = await db
    .updateTable('projects')
    .set({
      webhook_secret_enc: sealed,
      webhook_secret_shown_at: sql<Date>`now()`,
      webhook_previous_secret_enc: sql<Buffer>`CASE WHEN webhook_secret_shown_at IS NOT NULL THEN webhook_secret_enc END`,
    })
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
