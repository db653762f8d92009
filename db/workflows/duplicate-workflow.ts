import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { reserveId } from '../core/reserve-id.js';
import type { SecretBox } from '../core/secret-box.js';
import { copyCases } from '../test-runs/cases-repository.js';
import { copyPins } from '../test-runs/pins-repository.js';
import { copyCategories } from './categories-repository.js';
import { referFromDrawing } from '../files/references-repository.js';
import { lockProject } from '../projects/lock-project.js';

interface Duplication {
  workflowId: number;
  projectId: number;
  /** The author of the duplicate. */
  userId: number;
}

/**
 * Copies a workflow to the end of its project: drawing, secrets, pins, cases, cost limit, tags, marketplace texts and
 * fees, and categories. Publication, runs and the link to a marketplace original are not copied, because the duplicate
 * is independent. The duplicate is offered neither as a tool nor as a chat. Returns the new id; undefined if the
 * workflow is gone.
 */
export function duplicateWorkflow(
  db: Db,
  secretBox: SecretBox,
  { workflowId, projectId, userId }: Duplication,
): Promise<number | undefined> {
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, projectId))) return undefined;
    const id = await reserveId(transaction, 'workflows');
    const secrets = await transaction
      .selectFrom('workflows')
      .select('secrets_enc')
      .where('id', '=', workflowId)
      .forShare()
      .executeTakeFirst();
    const original = secrets?.secrets_enc ?? null;
    const sealed =
      original &&
      secretBox.seal(
        secretBox.open(original, 'workflow-secrets', projectId, workflowId),
        'workflow-secrets',
        projectId,
        id,
      );
    const { rows } = await sql`
      INSERT INTO workflows (id, project_id, author_id, title, sort_id, document, connection_ids, service_ids, secrets_enc, tags, market_title,
        short_description, available_languages, readme_guide, run_fee_usd, free_runs_per_user,
        max_run_cost_usd)
      SELECT ${id}, project_id, ${userId}, title,
        (SELECT max(sort_id) + 1 FROM workflows WHERE project_id = ${projectId} AND archived_at IS NULL),
        document, connection_ids, service_ids, ${sealed}::bytea, tags, market_title, short_description, available_languages, readme_guide, run_fee_usd,
        free_runs_per_user, max_run_cost_usd
      FROM workflows WHERE id = ${workflowId} AND archived_at IS NULL
      RETURNING id`.execute(transaction);
    if (rows.length === 0) return undefined;
    await copyCategories(transaction, workflowId, id);
    const drawing = await transaction
      .selectFrom('workflows')
      .select(['version', sql<string>`document::text`.as('document')])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await referFromDrawing(transaction, { workflowId: id, ...drawing });
    await copyPins(transaction, secretBox, workflowId, id);
    await copyCases(transaction, secretBox, workflowId, id);
    return id;
  });
}
