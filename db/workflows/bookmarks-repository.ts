import type { Db } from '../core/client.js';

/** A bookmark that is there already stays; two at once make one. */
export async function addBookmark(db: Db, userId: number, workflowId: number): Promise<void> {
  await db
    .insertInto('bookmarks')
    .values({ user_id: userId, workflow_id: workflowId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Removes the bookmark if there is one. */
export async function deleteBookmark(db: Db, userId: number, workflowId: number): Promise<void> {
  await db.deleteFrom('bookmarks').where('user_id', '=', userId).where('workflow_id', '=', workflowId).execute();
}
