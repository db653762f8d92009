import assert from 'node:assert/strict';
import { createDatabase } from '../../../db/core/client.js';
import { foldWorkflowChanges } from '../../../db/workflows/workflow-changes-repository.js';
import { chain, drawing, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../../api/accounts.js';

const FIGURES = `run_count, finished_count, total_duration_seconds::text AS duration, total_cost_usd::text AS cost,
  last_run_id, last_run_at`;

/** The expected rows of the table, computed from the runs and the transactions themselves. */
const RECOUNTED = `
  SELECT count(run.id)::integer AS run_count, count(run_finished_at - run_started_at)::integer AS finished_count,
    coalesce(sum(extract(epoch FROM run_finished_at - run_started_at)), 0)::text AS duration,
    (SELECT coalesce(sum(amount_usd), 0) FROM billing_transactions paid JOIN runs own ON own.id = paid.run_id
      WHERE own.workflow_id = $1)::text AS cost,
    (array_agg(run.id ORDER BY created_at DESC, run.id DESC))[1] AS last_run_id, max(created_at) AS last_run_at
  FROM runs run WHERE workflow_id = $1 AND status <> 'Draft'`;

describe('workflow statistics', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
  });

  const assertTrue = async (workflowId: number): Promise<Record<string, unknown>> => {
    const kept = `SELECT ${FIGURES} FROM workflow_statistics WHERE workflow_id = $1`;
    const [[stored], [recounted]] = [
      await queryDatabase<Record<string, unknown>>(stack, kept, [workflowId]),
      await queryDatabase<Record<string, unknown>>(stack, RECOUNTED, [workflowId]),
    ];
    assert.deepEqual(
      { ...stored, cost: Number(stored?.['cost']), duration: Number(stored?.['duration']) },
      { ...recounted, cost: Number(recounted?.['cost']), duration: Number(recounted?.['duration']) },
    );
    return stored ?? {};
  };

  it('agree with the runs and transactions after thirty paid, failed and cancelled runs at once', async () => {
    const { api } = account;
    const [start, model] = [trigger(), llm('hello {{ input.name }}')];
    link(start, model);
    const id = await api.createWorkflow(await api.createProject(), drawing([start, model]));
    const runIds = await Promise.all(Array.from({ length: 30 }, async () => (await api.run(id)).data.id));
    await Promise.all(
      runIds.slice(0, 5).map((runId) => api.post(`/workflows/${id}/history/${runId}/cancel/`, { body: {} })),
    );
    await Promise.all(runIds.map((runId) => api.pollToEnd(runId)));
    const stored = await assertTrue(id);
    assert.deepEqual([stored['run_count'], stored['finished_count']], [30, 30]);
  });

  it('agree while changes are folded into the totals, by several processes at once, and afterwards', async () => {
    const { api } = account;
    const id = await api.createWorkflow(await api.createProject(), chain(1));
    const options = { poolMax: 4, applicationName: 'statistics-test', onError: () => undefined };
    const db = createDatabase({ url: stack.stack.database_url, ...options });
    const folding = new AbortController();
    try {
      const folders = [1, 2].map(async () => {
        while (!folding.signal.aborted) await foldWorkflowChanges(db);
      });
      const runIds = await Promise.all(Array.from({ length: 30 }, async () => (await api.run(id)).data.id));
      await Promise.all(runIds.map((runId) => api.pollToEnd(runId)));
      assert.equal((await assertTrue(id))['finished_count'], 30);
      folding.abort();
      await Promise.all(folders);
      await foldWorkflowChanges(db);
      const before = await assertTrue(id);
      const totals = await queryDatabase(stack, `SELECT ${FIGURES} FROM workflow_totals WHERE workflow_id = $1`, [id]);
      assert.deepEqual(totals, [before], 'all of it is folded');
    } finally {
      folding.abort();
      await db.destroy();
    }
  });

  it('a refused run counts nowhere', async () => {
    const { api } = account;
    const data = drawing([trigger([{ id: 'a', input_requirements: true }])]);
    const id = await api.createWorkflow(await api.createProject(), data);
    assert.equal((await api.run(id)).status, 422);
    const stored = await assertTrue(id);
    assert.deepEqual([stored['run_count'], stored['last_run_at']], [0, null]);
  });

  it('rows written in bulk, over several workflows and out of order, count once each', async () => {
    const { api } = account;
    const { workflowId, runId } = await api.runToEnd(chain(1));
    const other = await api.createWorkflow(await api.createProject(), chain(1));
    const text = `
      INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input, created_at, run_started_at,
        run_finished_at)
      SELECT gen_random_uuid(), target, project_id, user_id, 'Succeeded', snapshot_hash, input,
        created_at - make_interval(mins => number), created_at, created_at + make_interval(secs => number)
      FROM runs, generate_series(1, 5000) AS number, unnest($2::integer[]) AS target WHERE id = $1`;
    await queryDatabase(stack, text, [runId, [workflowId, other]]);
    assert.deepEqual((await assertTrue(workflowId))['run_count'], 5001);
    assert.equal((await assertTrue(workflowId))['last_run_id'], runId, 'an older run is not the last one');
    assert.deepEqual((await assertTrue(other))['run_count'], 5000);
  });
});
