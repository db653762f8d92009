import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import {
  listRefusedTools,
  storeRefusedTools,
  storeRefusedToolsOfRun,
  type RefusedTool,
} from '../../../db/agents/refused-tools-repository.js';
import { deleteGoneDrawings } from '../../../db/retention/retention-repository.js';
import { connect, openRun } from '../open-run.js';

const tool = (name: string): RefusedTool => ({ name, reason: 'It is wrong.' });

describe('what is known of the tools that agents are not offered', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('is of the last listing for each server, of the present version alone, and goes with the workflow', async () => {
    const run = await openRun(db, ['agent']);
    const [nodeId] = run.nodeIds as [string];
    const { workflow_id: workflowId } = await db
      .updateTable('runs')
      .set({ workflow_version: 1 })
      .where('id', '=', run.id)
      .returning('workflow_id')
      .executeTakeFirstOrThrow();
    const known = async (version: number) =>
      (await listRefusedTools(db, workflowId, version)).map(({ nodeId: node, serverLabel, tools }) => {
        return [node, serverLabel, ...tools.map(({ name }) => name)];
      });
    const rows = async () => {
      const all = await db
        .selectFrom('refused_tools')
        .select('version')
        .where('workflow_id', '=', workflowId)
        .execute();
      return all.map(({ version }) => version);
    };
    const place = { workflowId, version: 1, nodeId };
    const list = (labels: Record<string, string[]>) =>
      new Map(Object.entries(labels).map(([label, names]) => [label, names.map(tool)]));

    await storeRefusedTools(db, place, list({ a: ['one', 'half \ud83d'], b: ['two'] }));
    await storeRefusedToolsOfRun(db, { runId: run.id, nodeId: 'other' }, list({ a: ['three'] }));
    assert.deepEqual(await known(1), [
      [nodeId, 'a', 'one', 'half \ud83d'],
      [nodeId, 'b', 'two'],
      ['other', 'a', 'three'],
    ]);
    await storeRefusedToolsOfRun(db, { runId: run.id, nodeId }, list({ a: ['four'], b: [] }));
    assert.deepEqual(await known(1), [
      [nodeId, 'a', 'four'],
      ['other', 'a', 'three'],
    ]);

    await db.updateTable('workflows').set({ version: 2 }).where('id', '=', workflowId).execute();
    await storeRefusedToolsOfRun(db, { runId: run.id, nodeId }, list({ a: ['of an earlier version'] }));
    await storeRefusedTools(db, place, list({ a: ['of an earlier version'] }));
    assert.deepEqual([await known(1), await known(2)].flat().length, 2, 'what came late is not stored');
    await storeRefusedTools(db, { ...place, version: 2 }, list({ a: ['five'] }));
    assert.deepEqual(await rows(), [2]);

    await db.updateTable('workflows').set({ version: 3 }).where('id', '=', workflowId).execute();
    while ((await deleteGoneDrawings(db, 1_000)).hasMore);
    assert.deepEqual(await rows(), []);
    await storeRefusedTools(db, { ...place, version: 3 }, list({ a: ['six'] }));
    await db.updateTable('workflows').set({ archived_at: new Date() }).where('id', '=', workflowId).execute();
    while ((await deleteGoneDrawings(db, 1_000)).hasMore);
    assert.deepEqual(await rows(), []);
  });
});
