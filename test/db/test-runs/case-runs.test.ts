// Case runs, continued by this process on a database of its own, where no other process continues them.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { driveCases, startCases } from '../../../api/test-runs/run-cases.js';
import type { TestDeps } from '../../../api/test-runs/deps.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { deleteGoneDrawings, deleteOldCaseRuns } from '../../../db/retention/retention-repository.js';
import { cancelCaseRun, claimCase, findCaseRun } from '../../../db/test-runs/case-runs-repository.js';
import { listCaseDetails, listCaseResults, readTriedDrawing } from '../../../db/test-runs/case-runs-repository.js';
import { countCases, insertCase, type Case } from '../../../db/test-runs/cases-repository.js';
import { listPins, storePin } from '../../../db/test-runs/pins-repository.js';
import type { StoredDrawing } from '../../../db/workflows/workflows-repository.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createLogger } from '../../../telemetry/logger.js';
import { createMigratedDatabase } from '../migrated-database.js';
import { openRun } from '../open-run.js';

describe('case runs', function () {
  this.timeout(120_000);
  const box = createSecretBox([randomBytes(32)]);
  const log = createLogger('test', 'silent');
  const { signal } = new AbortController();
  let own: Awaited<ReturnType<typeof createMigratedDatabase>>;
  let db: Database;
  let userId: number;

  before(async () => {
    own = await createMigratedDatabase();
    db = createDatabase({ url: own.url, poolMax: 4, applicationName: 'test', onError: () => undefined });
    userId = (await sharedStack()).stack.user_id;
    for (let id = 0; id < userId;) {
      const user = { name: 'of a test' };
      ({ id } = await db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow());
    }
  });
  after(async () => {
    await db.destroy();
    await own.drop();
  });

  /** Has nothing that could start a run. */
  const deps = (): TestDeps => ({ db, secretBox: box, logger: log }) as unknown as TestDeps;

  async function started() {
    const { id: runId, projectId } = await openRun(db, ['http']);
    await db.insertInto('project_members').values({ project_id: projectId, user_id: userId, role: 'editor' }).execute();
    const { workflow_id: workflowId } = await db
      .selectFrom('runs')
      .select('workflow_id')
      .where('id', '=', runId)
      .executeTakeFirstOrThrow();
    const content = { input: {}, mocks: {}, expect: [] };
    const cases: Case[] = [];
    for (const name of ['one', 'two']) {
      const id = (await insertCase(db, box, { workflowId, name, isRequired: false, content }))!;
      cases.push({ id, workflowId, name, isRequired: false, content, createdAt: new Date(), updatedAt: new Date() });
    }
    const workflow = { id: workflowId } as StoredDrawing;
    const tried = { drawing: { nodes: [{ secret: 'of the drawing' }] }, version: 1 };
    const caseRunId = await startCases(deps(), { workflow, userId, tried, cases, maxCostUsd: null });
    const found = async () => (await findCaseRun(db, workflowId, caseRunId))!;
    return { runId, projectId, workflowId, caseRunId, caseIds: cases.map(({ id }) => id), found };
  }

  const drive = async ({ found }: { found: Awaited<ReturnType<typeof started>>['found'] }, of = deps()) =>
    driveCases(of, log, await found(), signal);

  const gone: [string, (of: { projectId: number; workflowId: number }) => Promise<unknown>][] = [
    [
      'the project was deleted',
      ({ projectId: id }) => db.updateTable('projects').set({ deleted_at: new Date() }).where('id', '=', id).execute(),
    ],
    [
      'the workflow was archived',
      ({ workflowId: id }) =>
        db.updateTable('workflows').set({ archived_at: new Date() }).where('id', '=', id).execute(),
    ],
    [
      'the user was removed from the project',
      ({ projectId }) => db.deleteFrom('project_members').where('project_id', '=', projectId).execute(),
    ],
    [
      'the user was made a viewer',
      ({ projectId }) =>
        db.updateTable('project_members').set({ role: 'viewer' }).where('project_id', '=', projectId).execute(),
    ],
    [
      'the user was deactivated',
      () => db.updateTable('users').set({ is_active: false }).where('id', '=', userId).execute(),
    ],
  ];
  for (const [event, happen] of gone) {
    it(`start no case and end as failed after ${event}`, async () => {
      const run = await started();
      await happen(run);
      await drive(run);
      await db.updateTable('users').set({ is_active: true }).where('id', '=', userId).execute();
      const results = await listCaseResults(db, run.caseRunId);
      assert.deepEqual(
        results.map(({ status, runId }) => [status, runId]),
        [
          ['error', null],
          ['error', null],
        ],
      );
      const details = await listCaseDetails(db, box, run.caseRunId);
      assert.deepEqual(
        [...details.values()].map(({ error }) => error?.code),
        ['workflow_not_found', 'workflow_not_found'],
      );
      assert.equal((await run.found()).status, 'failed');
      assert.deepEqual(await readTriedDrawing(db, box, run.caseRunId), { drawing: {}, version: null });
    });
  }

  it('keep a case open whose run another process has started meanwhile', async () => {
    const run = await started();
    await cancelCaseRun(db, run.caseRunId);
    let isClaimed = false;
    const caseId = run.caseIds[0]!;
    const behind = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        // The cases have been read, and none has a run yet.
        if (!isClaimed && result.rows[0] !== undefined && 'runStatus' in result.rows[0]) {
          isClaimed = true;
          assert.ok(await claimCase(db, { caseRunId: run.caseRunId, caseId, runId: run.runId }));
        }
        return result;
      },
    });
    await drive(run, { ...deps(), db: behind });
    const results = await listCaseResults(db, run.caseRunId);
    assert.deepEqual(
      results.map(({ status, runId }) => [status, runId]),
      [
        ['in progress', run.runId],
        ['error', null],
      ],
    );
    assert.equal((await run.found()).status, 'in progress', 'a later round cancels the run and ends the case');
  });

  it('cancel an open run of a case once, however many rounds it takes to end', async () => {
    const run = await started();
    const caseId = run.caseIds[0]!;
    await claimCase(db, { caseRunId: run.caseRunId, caseId, runId: run.runId });
    await cancelCaseRun(db, run.caseRunId);
    for (let round = 0; round < 3; round += 1) await drive(run);
    const { records } = await db
      .selectFrom('audit_records')
      .select((row) => row.fn.countAll<number>().as('records'))
      .where('action', '=', 'run.cancelled')
      .where('project_id', '=', run.projectId)
      .executeTakeFirstOrThrow();
    assert.equal(records, 1);
  });

  it('are left to a later round if they cannot be continued', async () => {
    const run = await started();
    const found = await run.found();
    const broken = undefined as unknown as Database;
    await driveCases({ ...deps(), db: broken }, log, found, signal);
    assert.equal((await run.found()).status, 'in progress');
  });

  it('are deleted when they ended before the retention time', async () => {
    const [old, recent, open] = [await started(), await started(), await started()];
    for (const run of [old, recent]) {
      await cancelCaseRun(db, run.caseRunId);
      await drive(run);
    }
    await db
      .updateTable('case_runs')
      .set({ finished_at: new Date(Date.now() - 31 * 86_400_000) })
      .where('id', '=', old.caseRunId)
      .execute();
    await db
      .updateTable('case_runs')
      .set({ created_at: new Date(Date.now() - 31 * 86_400_000) })
      .where('id', '=', open.caseRunId)
      .execute();
    while ((await deleteOldCaseRuns(db, 30, 1)).hasMore);
    const left = async (run: typeof old) => [
      (await findCaseRun(db, run.workflowId, run.caseRunId)) !== undefined,
      (await listCaseResults(db, run.caseRunId)).length,
    ];
    assert.deepEqual(
      [await left(old), await left(recent), await left(open)],
      [
        [false, 0],
        [true, 2],
        [true, 2],
      ],
    );
  });

  it('lose their cases, like the pins, with the workflow', async () => {
    const [archived, live] = [await started(), await started()];
    const outcome = { output: { content: 'x' }, handles: [] };
    for (const { workflowId } of [archived, live]) {
      const pin = { workflowId, nodeId: 'n', path: '', outcome, shown: outcome, fingerprint: null, sourceRun: null };
      await db.transaction().execute((transaction) => storePin(transaction, box, { ...pin, userId }));
    }
    const { workflowId } = archived;
    await db.updateTable('workflows').set({ archived_at: new Date() }).where('id', '=', workflowId).execute();
    while ((await deleteGoneDrawings(db, 1)).hasMore);
    const left = async ({ workflowId: of }: typeof live) => [
      await countCases(db, of),
      (await listPins(db, box, of)).length,
    ];
    assert.deepEqual(
      [await left(archived), await left(live)],
      [
        [0, 0],
        [2, 1],
      ],
    );
  });
});
