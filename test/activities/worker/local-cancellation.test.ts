// Local activities that their workflow cancels.
import assert from 'node:assert/strict';
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { WorkflowInfo } from '@temporalio/workflow';
import { createLocalCancellation } from '../../../activities/worker/local-cancellation.js';
import { CANCELLED_LOCALLY } from '../../../contract/local-activities.js';

type Work = () => Promise<unknown>;

describe('cancelling local activities', () => {
  const begin = () => {
    const { sinks, interceptor } = createLocalCancellation();
    const workflowExecution = { workflowId: 'run', runId: 'execution' };
    const environmentOf = (activityId: string, isLocal = true) =>
      new MockActivityEnvironment({ isLocal, activityId, workflowExecution }, { interceptors: [interceptor] });
    const execute = (activityId: string, work: Work): Promise<unknown> => environmentOf(activityId).run(work);
    const cancel = (activityId: string, runId = 'execution') =>
      void sinks.localActivities.cancel.fn({ runId } as WorkflowInfo, activityId);
    const beginAnew = () => void sinks.localActivities.begin.fn({ runId: 'execution' } as WorkflowInfo);
    return { environmentOf, execute, cancel, beginAnew };
  };
  const isCancelled = (error: unknown): boolean =>
    error instanceof ApplicationFailure && error.type === CANCELLED_LOCALLY && error.nonRetryable === true;

  it('stops the one that is meant, by all means by which the SDK does', async () => {
    const { execute, cancel } = begin();
    let seen: object | undefined;
    const first = execute('1', async () => {
      const context = Context.current();
      await assert.rejects(context.cancelled, CancelledFailure);
      seen = { aborted: context.cancellationSignal.aborted, details: context.cancellationDetails };
      throw new CancelledFailure('stopped');
    });
    let goOn: () => void;
    const second = execute('2', () => new Promise<void>((resolve) => (goOn = resolve)));
    cancel('1', 'another execution');
    cancel('1');
    await assert.rejects(first, isCancelled);
    assert.deepEqual(seen, { aborted: true, details: { cancelRequested: true } });
    goOn!();
    assert.equal(await second, undefined);
  });

  it('does not begin one that was cancelled before, nor attempt it again', async () => {
    const { execute, cancel } = begin();
    cancel('1');
    for (let attempt = 1; attempt <= 2; attempt++) {
      await assert.rejects(
        execute('1', () => assert.fail('it began')),
        isCancelled,
      );
    }
  });

  it('forgets the cancellations of an execution that starts anew and may decide otherwise', async () => {
    const { execute, cancel, beginAnew } = begin();
    cancel('1');
    beginAnew();
    assert.equal(await execute('1', () => Promise.resolve('done')), 'done');
  });

  it('keeps the result or the error of an activity that ends despite its cancellation', async () => {
    const { execute, cancel } = begin();
    const ends = (end: Work) =>
      execute('1', async () => {
        cancel('1');
        return end();
      });
    assert.equal(await ends(() => Promise.resolve('done')), 'done');
    const other = begin();
    const failure = ApplicationFailure.create({ type: 'its_own', category: ApplicationFailureCategory.BENIGN });
    const failing = other.execute('1', async () => {
      other.cancel('1');
      throw failure;
    });
    await assert.rejects(failing, (error) => error === failure);
  });

  it('leaves normal activities to the SDK', async () => {
    const { environmentOf, cancel } = begin();
    cancel('1');
    assert.equal(await environmentOf('1', false).run(() => Promise.resolve('done')), 'done');
  });

  it('still lets a worker that stops cancel them', async () => {
    const environment = begin().environmentOf('1');
    const stopped = environment.run(() => Context.current().cancelled);
    environment.cancel('WORKER_SHUTDOWN');
    await assert.rejects(stopped, CancelledFailure);
  });
});
