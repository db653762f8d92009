import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { together } from '../../../db/core/together.js';

describe('questions asked together', () => {
  function recorder({ most = 10, tookMs = 5 } = {}) {
    const asked: number[][] = [];
    let idle = 0;
    const ask = async (questions: number[]): Promise<number[]> => {
      asked.push(questions);
      await pause(tookMs);
      if (questions.includes(13)) throw new Error('unlucky');
      return questions.map((question) => question * 10);
    };
    return { asked, question: together(ask, { most, onIdle: () => (idle += 1) }), idle: () => idle };
  }

  it('go in one statement, and each gets its own answer', async () => {
    const { asked, question, idle } = recorder();
    assert.deepEqual(await Promise.all([1, 2, 3].map(question)), [10, 20, 30]);
    assert.deepEqual(asked, [[1, 2, 3]]);
    await pause(1);
    assert.equal(idle(), 1);
  });

  it('join none that has been sent', async () => {
    const { asked, question } = recorder({ tookMs: 30 });
    const first = question(1);
    await pause(10);
    assert.deepEqual(await Promise.all([first, question(2), question(3)]), [10, 20, 30]);
    assert.deepEqual(asked, [[1], [2, 3]]);
  });

  it('are no more in one than may be, and one is under way at a time', async () => {
    const { asked, question } = recorder({ most: 2, tookMs: 30 });
    const all = Promise.all([1, 2, 3, 4, 5].map(question));
    await pause(15);
    assert.deepEqual(asked, [[1, 2]]);
    assert.deepEqual(await all, [10, 20, 30, 40, 50]);
    assert.deepEqual(asked, [[1, 2], [3, 4], [5]]);
  });

  it('fail together, and those after them are asked all the same', async () => {
    const { question } = recorder();
    const outcomes = await Promise.allSettled([question(13), question(1)]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(await question(2), 20);
  });
});
