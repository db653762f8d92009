import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDrawingCache, type DrawingCache } from '../../../acceptance/drawing-cache.js';
import { prepareRun } from '../../../acceptance/prepare-run.js';
import { createSnapshotStore, storeRun } from '../../../acceptance/store-run.js';
import type { Database } from '../../../db/core/client.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { insertAcceptedRun } from '../../../db/runs/runs-repository.js';
import { findDrawing } from '../../../db/workflows/workflows-repository.js';
import { drawing, http, linkInRow, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { connect } from '../../db/open-run.js';
import { createAccount, type Account } from '../accounts.js';
import { sharedStack } from '../../support/shared-stack.js';

const MIB = 2 ** 20;
const ADDRESS = 'http://127.0.0.1:1/';
const FIELD = { id: 'name', label: 'Name', type: 'text', input_requirements: true };

describe('drawings that are cached between their starts', function () {
  this.timeout(60_000);
  let account: Account;
  let projectId: number;
  let db: Database;
  let drawings: DrawingCache;

  before(async () => {
    account = await createAccount(await sharedStack());
    projectId = await account.api.createProject();
    db = await connect();
  });
  after(() => db.destroy());
  beforeEach(() => {
    drawings = createDrawingCache(db, MIB);
  });

  const create = (data: Drawing): Promise<number> => account.api.createWorkflow(projectId, data);
  const calling = (headers: Record<string, string> = {}, url = ADDRESS): Drawing =>
    drawing(linkInRow([trigger([FIELD]), http(url, { headers })]));

  it('are read once, and looked up at each start', async () => {
    const id = await create(calling());
    const first = await drawings.find(id);
    const second = await drawings.find(id);
    assert.deepEqual(first?.document, (await findDrawing(db, id))?.document);
    assert.equal(second?.document, first?.document);
    assert.equal(second?.cached?.derived, first?.cached?.derived);
  });

  it('prepare the same run as drawings that are not', async () => {
    const id = await create(calling());
    await drawings.find(id);
    const deps = { db, secretBox: createSecretBox([Buffer.alloc(32)]) };
    for (const input of [{ name: 'x' }, {}]) {
      const request = { userId: account.userId, input, runId: '00000000-0000-4000-8000-000000000000' };
      const [cached, read] = [(await drawings.find(id))!, (await findDrawing(db, id))!];
      assert.notEqual(cached.cached, undefined);
      assert.deepEqual(
        await prepareRun(deps, { ...request, workflow: cached }),
        await prepareRun(deps, { ...request, workflow: read }),
      );
    }
  });

  it('show a change of another process at once, of the drawing, its positions and its title', async () => {
    const id = await create(calling());
    await drawings.find(id);
    const moved = { ...calling({}, `${ADDRESS}other`), viewport: { x: 1, y: 2, zoom: 1 } };
    await account.api.patch(`/workflows/${id}/`, { body: { title: 'another title', data: moved } });
    const changed = await drawings.find(id);
    assert.deepEqual(changed, { ...(await findDrawing(db, id)), cached: changed?.cached });
    assert.equal(changed?.title, 'another title');
    const [, node] = changed.cached!.derived.document.nodes;
    assert.equal(node?.data['url'], `${ADDRESS}other`);
  });

  it('are read again after a restore of the database, which gives the same revision another drawing', async () => {
    const id = await create(calling());
    await drawings.find(id);
    const restored = JSON.stringify(calling({}, `${ADDRESS}restored`));
    await sql`UPDATE workflows SET document = ${restored}, updated_at = now() WHERE id = ${id}`.execute(db);
    assert.deepEqual((await drawings.find(id))?.document, JSON.parse(restored));
  });

  it('are gone with their workflow', async () => {
    const id = await create(calling());
    await drawings.find(id);
    await account.api.delete(`/workflows/${id}/`);
    assert.equal(await drawings.find(id), undefined);
  });

  it('hold no secrets: a drawing with secrets is read at each start, also if it had none before', async () => {
    const id = await create(calling());
    assert.notEqual((await drawings.find(id))?.cached, undefined);
    await account.api.patch(`/workflows/${id}/`, {
      body: { data: calling({ Authorization: 'Bearer a-secret-token' }) },
    });
    const found = await drawings.find(id);
    assert.notEqual(found?.secrets_enc, null);
    assert.equal(found?.cached, undefined);
    assert.notEqual((await drawings.find(id))?.document, found?.document);
  });

  it('are valid: a drawing with errors is checked at each start', async () => {
    const id = await create(calling({}, ''));
    assert.equal((await drawings.find(id))?.cached, undefined);
  });

  it('are frozen', async () => {
    const id = await create(calling());
    const { document, cached } = (await drawings.find(id))!;
    const [node] = document['nodes'] as { data: object }[];
    for (const part of [document, node, node?.data, cached?.derived.plan.ids]) assert.ok(Object.isFrozen(part));
  });

  it('are stored again as a snapshot if retention has deleted the snapshot', async () => {
    const id = await create(calling());
    const workflow = (await drawings.find(id))!;
    const { derived, snapshotHash } = workflow.cached!;
    const graph = { document: workflow.document, plan: derived.plan, hash: snapshotHash };
    const snapshots = createSnapshotStore(db);
    await storeRun(snapshots, graph, () => Promise.resolve());
    await db.deleteFrom('graph_snapshots').where('hash', '=', snapshotHash).execute();
    const deps = { db, secretBox: createSecretBox([Buffer.alloc(32)]) };
    const prepared = await prepareRun(deps, { workflow, userId: account.userId, input: { name: 'x' } });
    assert.ok(prepared.ok);
    const { facts } = prepared.run;
    await storeRun(snapshots, graph, (hash) => insertAcceptedRun(db, { ...facts, snapshot_hash: hash }, 3600));
    const stored = await db.selectFrom('graph_snapshots').select('document').where('hash', '=', snapshotHash).execute();
    assert.deepEqual(
      stored.map(({ document }) => document),
      [workflow.document],
    );
  });

  it('use no more memory than the limit: the least recently used drawing is removed', async () => {
    const [one, two] = [await create(calling()), await create(calling())];
    const size = 12 * Buffer.byteLength(JSON.stringify((await findDrawing(db, one))?.document));
    const few = createDrawingCache(db, 8 * size + size / 2);
    const first = (await few.find(one))?.document;
    for (let count = 0; count < 7; count += 1) await few.find(await create(calling()));
    assert.equal((await few.find(one))?.document, first);
    for (let count = 0; count < 8; count += 1) await few.find(await create(calling()));
    assert.notEqual((await few.find(one))?.document, first);
    const tight = createDrawingCache(db, 7 * size);
    assert.equal((await tight.find(two))?.cached, undefined, 'none uses more than its part');
  });
});
