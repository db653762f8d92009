import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { copyCategories } from './categories-repository.js';
import { lockProject } from './workflows-repository.js';

interface Duplication {
  workflowId: number;
  projectId: number;
  /** Becomes the author. */
  userId: number;
}

/**
 * Copies a workflow with its drawing, secrets, the limit of its runs, marketplace texts and categories to the end of
 * its project; answers the new id. Publication, runs and the link to a marketplace original stay behind: the duplicate
 * is independent. Undefined when the workflow is gone. Specification, "Workflows: CRUD".
 */
export function duplicateWorkflow(db: Db, { workflowId, projectId, userId }: Duplication): Promise<number | undefined> {
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, projectId))) return undefined;
    // The sealed secrets are not bound to the workflow's id, so they are copied as they are.
    const { rows } = await sql<{ id: number }>`
      INSERT INTO workflows (project_id, author_id, title, sort_id, document, secrets_enc, market_title,
        short_description, available_languages, readme_guide, run_fee_usd, free_runs_per_user,
        max_run_cost_usd)
      SELECT project_id, ${userId}, title,
        (SELECT max(sort_id) + 1 FROM workflows WHERE project_id = ${projectId} AND archived_at IS NULL),
        document, secrets_enc, market_title, short_description, available_languages, readme_guide, run_fee_usd,
        free_runs_per_user, max_run_cost_usd
      FROM workflows WHERE id = ${workflowId} AND archived_at IS NULL
      RETURNING id`.execute(transaction);
    const id = rows[0]?.id;
    if (id !== undefined) await copyCategories(transaction, workflowId, id);
    return id;
  });
}
