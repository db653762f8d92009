import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { finalFailure } from '../../../activities/node/failures.js';
import { createActivities } from '../../../activities/worker/create-activities.js';
import { createWorkerMetrics } from '../../../activities/worker/worker-metrics.js';
import type { Database } from '../../../db/core/client.js';
import { createLogger } from '../../../telemetry/logger.js';
import { connect, openRun } from '../../db/open-run.js';

type Deps = Parameters<typeof createActivities>[0];

describe('the end of a run', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('is recorded as a failure when the run cannot be started', async () => {
    const { id: runId } = await openRun(db, ['trigger']);
    const contexts = { start: () => Promise.reject(finalFailure('quota_exceeded')) };
    const others = { logger: createLogger('worker', 'silent'), metrics: createWorkerMetrics() };
    const { finishRun } = createActivities({ db, contexts, files: {}, ...others } as unknown as Deps);
    const ending = new MockActivityEnvironment().run(() => finishRun({ runId, status: 'succeed' }));
    await assert.rejects(ending, { type: 'quota_exceeded', nonRetryable: true });
    const run = db.selectFrom('runs').select(['status', 'error_code', 'error_message']).where('id', '=', runId);
    const ended = { status: 'Error', error_code: 'quota_exceeded', error_message: 'The run failed: quota_exceeded.' };
    assert.deepEqual(await run.executeTakeFirst(), ended);
  });
});
