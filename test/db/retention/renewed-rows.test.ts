import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { deleteOldDrafts } from '../../../db/retention/retention-repository.js';
import { lockDraft, storeDraft } from '../../../db/workflows/drafts-repository.js';
import { connect, openRun, untilWaiting } from '../open-run.js';

describe('an old draft', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('is not deleted if its author stores it while the deletion waits for its row', async () => {
    const { id: runId, projectId, userId } = await openRun(db, ['http']);
    const { workflow_id: workflowId } = await db
      .selectFrom('runs')
      .select('workflow_id')
      .where('id', '=', runId)
      .executeTakeFirstOrThrow();
    await sql`INSERT INTO project_members (project_id, user_id, role) VALUES (${projectId}, ${userId}, 'owner')
      ON CONFLICT DO NOTHING`.execute(db);
    const draft = { workflowId, userId, document: '{}', secretsEnc: null, baseVersion: 1, writtenBy: null };
    const isStored = async (): Promise<boolean> => {
      const rows = await db.selectFrom('workflow_drafts').select('tag').where('workflow_id', '=', workflowId).execute();
      return rows.length === 1;
    };
    const makeOld = () =>
      sql`UPDATE workflow_drafts SET updated_at = now() - interval '1 year' WHERE workflow_id = ${workflowId}`.execute(
        db,
      );
    await db.transaction().execute((trx) => storeDraft(trx, draft));
    await makeOld();
    const beside = await db.transaction().execute(async (trx) => {
      await lockDraft(trx, { workflowId, userId });
      await storeDraft(trx, draft);
      const deletion = deleteOldDrafts(db, 1_000);
      await untilWaiting('DELETE FROM "workflow_drafts"');
      return { deletion };
    });
    await beside.deletion;
    assert.equal(await isStored(), true);
    await makeOld();
    await deleteOldDrafts(db, 1_000);
    assert.equal(await isStored(), false);
  });
});
