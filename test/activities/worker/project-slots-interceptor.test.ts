import assert from 'node:assert/strict';
import { ApplicationFailure, CancelledFailure, type Info } from '@temporalio/activity';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createProjectSlotsInterceptor } from '../../../activities/worker/project-slots-interceptor.js';
import { ProjectSlots } from '../../../activities/worker/project-slots.js';
import { eventually } from '../../../harness/timing/eventually.js';
import type { RunContext } from '../../../activities/node/run-context.js';

describe('an activity whose project holds its share of the slots', () => {
  let slots: ProjectSlots;
  let handedBack: number;

  /** A long call of the project holds one of the two slots. */
  beforeEach(() => {
    slots = new ProjectSlots({ slots: 2, projectSlots: 1 });
    void slots.take(7, 0, new AbortController().signal);
    handedBack = 0;
  });

  function deliver(info: Partial<Info> = {}) {
    const contexts = {
      load: (runId: string) =>
        runId === 'lost' ? Promise.reject(new Error('no such run')) : Promise.resolve({ projectId: 7 } as RunContext),
    };
    const interceptor = createProjectSlotsInterceptor({ slots, contexts, handedBack: { inc: () => handedBack++ } });
    const environment = new MockActivityEnvironment(
      { activityType: 'httpRequest', ...info },
      { interceptors: [interceptor] },
    );
    let began = false;
    const run = (runId = 'run'): Promise<string> =>
      environment.run(
        (_ref: { runId: string }) => {
          began = true;
          return Promise.resolve('done');
        },
        { runId },
      );
    return { environment, run, hasBegun: () => began };
  }

  const untilWaiting = (): Promise<boolean> =>
    eventually(() => slots.load().waitingActivities === 1, { intervalMs: 1 });

  async function failureOf(run: Promise<unknown>): Promise<unknown> {
    return run.then(
      () => assert.fail('it did not fail'),
      (error: unknown) => error,
    );
  }

  it('goes back to the queue after a moment, for another attempt soon, and has begun nothing', async () => {
    for (const attempt of [1, 2, 50]) {
      const { run, hasBegun } = deliver({ attempt });
      const failure = await failureOf(run());
      assert.ok(failure instanceof ApplicationFailure);
      assert.equal(failure.type, 'project_slots_taken');
      assert.equal(failure.nonRetryable, false);
      const delayMs = Number(failure.nextRetryDelay);
      assert.ok(delayMs >= 250 && delayMs <= 6_000, String(delayMs));
      assert.equal(hasBegun(), false);
    }
    assert.equal(handedBack, 3);
    assert.deepEqual(slots.load(), { waitingActivities: 0, largestShare: 1 });
  });

  it('begins as soon as an activity of its project ends, and gives its slot back', async () => {
    const { run } = deliver();
    const running = run();
    await untilWaiting();
    slots.release(7);
    assert.equal(await running, 'done');
    assert.deepEqual(slots.load(), { waitingActivities: 0, largestShare: 0 });
  });

  it('ends at once when it is cancelled, and is not handed back', async () => {
    const { environment, run, hasBegun } = deliver();
    const failing = failureOf(run());
    await untilWaiting();
    environment.cancel();
    assert.ok((await failing) instanceof CancelledFailure);
    assert.deepEqual([hasBegun(), handedBack, slots.load().waitingActivities], [false, 0, 0]);
  });

  it('is handed back at once when its worker stops', async () => {
    const { environment, run } = deliver();
    const failing = failureOf(run());
    const details = new ActivityCancellationDetails({ workerShutdown: true });
    await untilWaiting();
    environment.cancel('WORKER_SHUTDOWN', details);
    const failure = await failing;
    assert.ok(failure instanceof ApplicationFailure && failure.type === 'project_slots_taken');
  });

  it('waits for nothing when it is local, or its run cannot be loaded', async () => {
    assert.equal(await deliver({ isLocal: true }).run(), 'done');
    assert.equal(await deliver().run('lost'), 'done');
    assert.deepEqual(slots.load(), { waitingActivities: 0, largestShare: 1 });
  });
});
