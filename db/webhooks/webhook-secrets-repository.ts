// The secrets that sign a project's webhooks, sealed. One exists from the moment a webhook is switched on.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

/**
 * Puts a new secret in the place of the old one, which signs beside it for a day if anybody has seen it. False when the
 * project is gone.
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
