import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { lockProject } from '../projects/lock-project.js';

/**
 * Moves a workflow to `position` (1 to n; other values mean the nearest one) and shifts the ones in between, so that
 * the positions of a project stay 1 to n. Holds the project's row lock, like everything that changes positions.
 * Returns false if the workflow is gone.
 */
export function reorderWorkflow(
  db: Db,
  { workflowId, projectId, position }: { workflowId: number; projectId: number; position: number },
): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    await lockProject(transaction, projectId);
    const moved = await transaction
      .selectFrom('workflows')
      .select('sort_id as from')
      .select((eb) =>
        eb
          .selectFrom('workflows as sibling')
          .select((count) => count.fn.countAll<number>().as('count'))
          .where('sibling.project_id', '=', projectId)
          .where('sibling.archived_at', 'is', null)
          .as('count'),
      )
      .where('id', '=', workflowId)
      .where('archived_at', 'is', null)
      .executeTakeFirst();
    if (moved === undefined) return false;
    const { from } = moved;
    const to = Math.min(Math.max(position, 1), moved.count ?? 1);
    if (to === from) return true;
    const step = to > from ? -1 : 1;
    await sql`
      UPDATE workflows SET
        sort_id = CASE WHEN id = ${workflowId} THEN ${to}::integer ELSE sort_id + ${step}::integer END,
        updated_at = CASE WHEN id = ${workflowId} THEN now() ELSE updated_at END
      WHERE project_id = ${projectId} AND archived_at IS NULL
        AND sort_id BETWEEN ${Math.min(from, to)} AND ${Math.max(from, to)}`.execute(transaction);
    return true;
  });
}
