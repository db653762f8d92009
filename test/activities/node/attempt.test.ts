import assert from 'node:assert/strict';
import { performStep } from '../../../activities/node/attempt.js';
import type { NodeTask } from '../../../activities/node/node-step.js';
import { toStep } from '../../../activities/node/run-node.js';
import type { NodeClaim } from '../../../db/nodes/node-results-repository.js';

describe('a condition that is executed again and comes to another end', () => {
  const evaluatesTrue = toStep({
    kind: 'condition',
    maxAttempts: 1,
    firstDelayMs: 0,
    execute: async () => ({ output: { content: 'true' }, handle: 1 }),
  });
  const task = {} as NodeTask;

  it('is left by the handle that the first attempt has recorded', async () => {
    const recordedFalse: NodeClaim = {
      status: 'succeed',
      handle: 2,
      alsoHandles: null,
      errorCode: null,
      attempts: 1,
      spared: 0,
      isHeld: false,
    };
    assert.deepEqual(await performStep(evaluatesTrue, task, async () => recordedFalse), { handle: 2 });
  });

  it('is left by its own handle where no attempt before has recorded any', async () => {
    assert.deepEqual(await performStep(evaluatesTrue, task, async () => undefined), { handle: 1 });
  });
});
