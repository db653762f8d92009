// The clock of a worker may be an hour ahead or behind: the step that ends a wait may run on another host.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { endTime, createStartWaitStep } from '../../../activities/kinds/wait.js';
import type { WaitDeps } from '../../../activities/kinds/wait-deps.js';
import type { WaitFacts } from '../../../contract/activities.js';
import type { NodeTask } from '../../../activities/node/node-step.js';
import { readClock } from '../../../db/core/clock.js';
import type { Database } from '../../../db/core/client.js';
import { endRun } from '../../../db/runs/run-life.js';
import { connect, openRun } from '../../db/open-run.js';

const HOUR_MS = 3_600_000;

describe('a wait for a time', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  /** Calls `act` on a host whose clock is wrong by this time. */
  async function withClock<T>(aheadMs: number, act: () => Promise<T>): Promise<T> {
    const rightNow = Date.now.bind(Date);
    const clock = mock.method(Date, 'now', () => rightNow() + aheadMs);
    try {
      return await act();
    } finally {
      clock.mock.restore();
    }
  }

  for (const aheadMs of [HOUR_MS, -HOUR_MS]) {
    it(`takes as long as drawn on a host whose clock is an hour ${aheadMs > 0 ? 'ahead' : 'behind'}`, async () => {
      const run = await openRun(db, ['wait', 'wait']);
      const deps = {
        db,
        contexts: { loadValues: () => Promise.resolve({ input: {}, results: new Map() }) },
        callbacks: { urlsOf: () => Promise.resolve(new Map()) },
      } as unknown as WaitDeps;
      const start = async (nodeId: string, seconds: number): Promise<WaitFacts> => {
        const task = { runId: run.id, path: '', nodeId, node: { data: { mode: 'duration', seconds } }, run: {} };
        return ((await createStartWaitStep(deps).run(task as unknown as NodeTask)) as { facts: WaitFacts }).facts;
      };
      try {
        await withClock(aheadMs, async () => {
          const before = await readClock(db);
          const long = await start(run.nodeIds[0]!, 600);
          const after = await readClock(db);
          assert.equal(long.isOver, undefined);
          assert.ok(long.untilMs >= before + 600_000 && long.untilMs <= after + 600_000);
          assert.equal(await endTime(deps, long), undefined, 'it is not over');
          const none = await start(run.nodeIds[1]!, 0);
          assert.equal(none.isOver, true);
          assert.ok((await endTime(deps, { for: 'time', untilMs: after })) !== undefined, 'it is over');
        });
      } finally {
        await endRun(db, run.id, { status: 'cancelled' });
      }
    });
  }
});
