import assert from 'node:assert/strict';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { toRunExecution } from '../../../api/runs/temporal-calls.js';

type Described = Pick<WorkflowExecutionDescription, 'status' | 'closeTime' | 'raw'>;

describe('what a description in Temporal says of a run', () => {
  const describeAs = (name: string, rest: object = {}) =>
    toRunExecution({ status: { code: 0, name }, raw: {}, ...rest } as Described);

  for (const name of ['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW', 'UNSPECIFIED', 'UNKNOWN']) {
    it(`${name} is open: nothing but an end ends a run`, () => {
      assert.deepEqual(describeAs(name), { state: 'open', taskAttempts: 0 });
    });
  }

  it('an open workflow task tells how often it was tried', () => {
    assert.deepEqual(describeAs('RUNNING', { raw: { pendingWorkflowTask: { attempt: 7 } } }), {
      state: 'open',
      taskAttempts: 7,
    });
  });

  it('an end is known by its kind, with or without a time', () => {
    const closedAt = new Date();
    assert.deepEqual(describeAs('TIMED_OUT', { closeTime: closedAt }), { state: 'closed', how: 'timed out', closedAt });
    assert.deepEqual(describeAs('TERMINATED'), { state: 'closed', how: 'terminated', closedAt: undefined });
  });
});
