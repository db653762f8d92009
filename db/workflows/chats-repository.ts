// Workflows that are chats (`is_chat`). Extensions, section 13.
import type { Db } from '../core/client.js';

/** False also where the workflow was deleted. The caller has been let in already, so access is not checked here. */
export async function isChatWorkflow(db: Db, workflowId: number): Promise<boolean> {
  const found = await db
    .selectFrom('workflows')
    .select('id')
    .where('id', '=', workflowId)
    .where('is_chat', '=', true)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return found !== undefined;
}
