import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { seedDrawing, seedRuns, seedWorkflows } from '../../../bench/seed-runs.js';
import type { Database } from '../../../db/core/client.js';
import { findNodeSpeeds } from '../../../db/nodes/node-speeds-repository.js';
import { connect, openRun } from '../open-run.js';

const SAMPLE = 20;

describe('speeds of nodes', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  /** Finished runs of a drawing with so many nodes. */
  async function seed(nodes: number, runs: number): Promise<number> {
    const { projectId, userId } = await openRun(db, ['http']);
    const [workflowId = 0] = await seedWorkflows(db, { projectId, userId, count: 1 });
    await db
      .updateTable('workflows')
      .set({ document: JSON.stringify(seedDrawing(nodes)) })
      .where('id', '=', workflowId)
      .execute();
    await seedRuns(db, { userId, workflowIds: [workflowId], runs });
    return workflowId;
  }

  it('are those of the last executions of each node', async () => {
    const workflowId = await seed(3, 50);
    await sql`
      UPDATE node_results node SET finished_at = node.started_at + interval '7 milliseconds',
        attempts = CASE WHEN recent.nth = 1 THEN 2 ELSE 1 END
      FROM (
        SELECT id, row_number() OVER (ORDER BY created_at DESC, id DESC) AS nth FROM runs WHERE workflow_id = ${workflowId}
      ) recent WHERE recent.id = node.run_id AND recent.nth <= ${SAMPLE}`.execute(db);
    const speeds = [...(await findNodeSpeeds(db, workflowId, SAMPLE)).values()];
    assert.deepEqual(
      speeds.map((speed) => ({ ...speed, p95Ms: Math.round(speed.p95Ms) })),
      Array.from({ length: 3 }, () => ({ executions: SAMPLE, failures: 1, p95Ms: 7 })),
    );
  });

  it('of a large drawing are taken from fewer runs, but enough to go by', async () => {
    const speeds = await findNodeSpeeds(db, await seed(1_000, 12), SAMPLE);
    assert.equal(speeds.size, 1_000);
    assert.deepEqual([...new Set([...speeds.values()].map(({ executions }) => executions))], [SAMPLE / 2]);
  });

  it('of a workflow without runs are not known', async () => {
    assert.equal((await findNodeSpeeds(db, 2_147_483_647, SAMPLE)).size, 0);
  });
});
