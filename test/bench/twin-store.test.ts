import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openStore } from '../../bench/twin/store.js';
import { withEmptyDatabase } from '../db/migrated-database.js';

const JOB = { shape: 'chain', size: 2, concurrency: 2, targetUrl: '', tag: 'kept', delayMs: 0, keeps: true } as const;

describe('the twin that keeps results', function () {
  this.timeout(120_000);

  it('writes one row for each run and each result, however often an activity is repeated', async () => {
    await withEmptyDatabase(async (url) => {
      const store = await openStore(url);
      const runId = randomUUID();
      assert.equal(await store.readRun(runId), undefined);
      await store.openRun(runId, JOB);
      const read = async () => {
        const { id, status, results } = (await store.readRun(runId))!;
        return { id, status, results: results.map(({ number, answer }) => [number, answer.well]) };
      };
      assert.deepEqual(await read(), { id: runId, status: 'in progress', results: [] });
      const first = { runId, number: 1, isLast: false, answer: { well: 'yes' } };
      await store.keepResult(first);
      await store.keepResult({ ...first, answer: { well: 'repeated' } });
      assert.deepEqual((await read()).results, [[1, 'yes']]);
      await store.keepResult({ ...first, number: 2, isLast: true });
      await store.endRun(runId, 'failed');
      const ended = { id: runId, status: 'succeed', results: [1, 2].map((number) => [number, 'yes']) };
      assert.deepEqual(await read(), ended, 'its end is kept with its last result, and does not change');
      await store.close();
    });
  });
});
