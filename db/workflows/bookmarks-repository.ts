import type { Db } from '../core/client.js';

/** Idempotent, also if called concurrently. */
export async function addBookmark(db: Db, userId: number, workflowId: number): Promise<void> {
  await db
    .insertInto('bookmarks')
    .values({ user_id: userId, workflow_id: workflowId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteBookmark(db: Db, userId: number, workflowId: number): Promise<void> {
  await db.deleteFrom('bookmarks').where('user_id', '=', userId).where('workflow_id', '=', workflowId).execute();
}
