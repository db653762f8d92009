import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { deleteOrphanedSnapshots, storeSnapshot } from '../../../db/runs/snapshots-repository.js';
import type { Tables } from '../../../db/core/tables.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';

const PLAN = { ids: [], kinds: [], labels: [], out: [], indegree: [] };

describe('graphs that nothing refers to', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let db: Database;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    project = await api.createProject();
    const options = { poolMax: 4, applicationName: 'test', onError: () => undefined };
    db = createDatabase({ url: stack.stack.database_url, ...options });
  });
  after(() => db.destroy());

  const isStored = async (hash: Buffer): Promise<boolean> =>
    (await queryDatabase(stack, 'SELECT 1 FROM graph_snapshots WHERE hash = $1', [hash])).length === 1;
  const age = (hashes: Buffer[]) =>
    queryDatabase(stack, "UPDATE graph_snapshots SET created_at = now() - interval '2 hours' WHERE hash = ANY ($1)", [
      hashes,
    ]);
  const sweep = (after: Buffer | null, limit: number) =>
    db.transaction().execute((trx) => deleteOrphanedSnapshots(trx, after, limit));
  const sweepAll = async (): Promise<void> => {
    let after: Buffer | null = null;
    do after = (await sweep(after, 7)).nextHash;
    while (after !== null);
  };
  /** A workflow whose graph was stored two hours ago by an acceptance that died. */
  const workflowWithOrphan = async (): Promise<{ workflowId: number; hash: Buffer }> => {
    const workflowId = await api.createWorkflow(project, chain(1));
    const { body } = await api.get<{ data: Record<string, unknown> }>(`/workflows/${workflowId}/`);
    const compiled = compilePlan(body.data);
    assert.ok(compiled.ok);
    const hash = await storeSnapshot(db, JSON.stringify(body.data), compiled.plan);
    await age([hash]);
    return { workflowId, hash };
  };

  it('are deleted after an hour, in batches that reach all of them', async () => {
    const old = await Promise.all(Array.from({ length: 20 }, () => storeSnapshot(db, `"${randomUUID()}"`, PLAN)));
    const young = await storeSnapshot(db, `"${randomUUID()}"`, PLAN);
    await age(old);
    await sweepAll();
    assert.deepEqual(
      await Promise.all(old.map(isStored)),
      old.map(() => false),
    );
    assert.ok(await isStored(young));
  });

  it('stay while a run, however old, or a publication refers to them', async () => {
    const { workflowId, runId } = await api.runToEnd(chain(1));
    const text = 'SELECT snapshot_hash FROM runs WHERE id = $1';
    const [run] = await queryDatabase<{ snapshot_hash: Buffer }>(stack, text, [runId]);
    const published = await storeSnapshot(db, `"${randomUUID()}"`, PLAN);
    await queryDatabase(stack, 'UPDATE workflows SET published_snapshot = $1 WHERE id = $2', [published, workflowId]);
    await age([run!.snapshot_hash, published]);
    await sweepAll();
    assert.deepEqual([await isStored(run!.snapshot_hash), await isStored(published)], [true, true]);
  });

  it('a run that is accepted while its graph is being deleted gets it back', async () => {
    const { workflowId, hash } = await workflowWithOrphan();
    let started: ReturnType<ApiClient['run']> | undefined;
    await inTransaction(async (trx) => {
      assert.equal((await deleteOrphanedSnapshots(trx, null, 1_000_000)).deleted > 0, true);
      started = api.run(workflowId);
      await eventually(() => isSomebodyWaiting('graph_snapshots'));
    });
    const { status, data } = await started!;
    assert.equal(status, 201);
    assert.equal((await api.pollToEnd(data.id)).data.status, 'succeed');
    assert.ok(await isStored(hash));
  });

  it('a run gets its graph back that is deleted after it was stored and before the run is stored', async () => {
    const { workflowId, hash } = await workflowWithOrphan();
    let started: ReturnType<ApiClient['run']> | undefined;
    await inTransaction(async (trx) => {
      // The acceptance of the run finds the orphan and relies on it. This lock blocks the insertion of the run.
      await sql`LOCK TABLE runs IN SHARE MODE`.execute(trx);
      started = api.run(workflowId);
      await eventually(() => isSomebodyWaiting('insert into "runs"'));
      assert.equal((await deleteOrphanedSnapshots(trx, null, 1_000_000)).deleted > 0, true);
    });
    const { status, data } = await started!;
    assert.equal(status, 201);
    assert.equal((await api.pollToEnd(data.id)).data.status, 'succeed');
    assert.ok(await isStored(hash));
  });

  it('acceptances and sweeps at once lose no graph and refuse no run', async () => {
    const workflows = await Promise.all(Array.from({ length: 15 }, workflowWithOrphan));
    const over = new AbortController();
    const sweeps = (async () => {
      while (!over.signal.aborted) await sweep(null, 1_000_000);
    })();
    const runs = await Promise.all(workflows.map(({ workflowId }) => api.run(workflowId)));
    over.abort();
    await sweeps;
    for (const { status, data } of runs) {
      assert.equal(status, 201);
      assert.equal((await api.pollToEnd(data.id)).data.status, 'succeed');
    }
    assert.deepEqual(
      await Promise.all(workflows.map(({ hash }) => isStored(hash))),
      workflows.map(() => true),
    );
  });

  const inTransaction = (work: (trx: Transaction<Tables>) => Promise<void>): Promise<void> =>
    db.transaction().execute(work);
  const isSomebodyWaiting = async (statement: string): Promise<boolean> => {
    const text = `SELECT 1 FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND application_name = 'api' AND query ILIKE '%' || $1 || '%'`;
    return (await queryDatabase(stack, text, [statement])).length > 0;
  };
});
