import assert from 'node:assert/strict';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { together } from '../../../db/core/together.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { createGate } from '../../../harness/timing/gate.js';

describe('questions asked together', () => {
  function recorder({ most = 10, until = Promise.resolve(), isolates = false } = {}) {
    const asked: number[][] = [];
    let idle = 0;
    const ask = async (questions: number[]): Promise<number[]> => {
      asked.push(questions);
      await until;
      if (questions.includes(13)) throw new Error('unlucky');
      return questions.map((question) => question * 10);
    };
    return { asked, question: together(ask, { most, isolates, onIdle: () => (idle += 1) }), idle: () => idle };
  }

  it('go in one statement, and each gets its own answer', async () => {
    const { asked, question, idle } = recorder();
    assert.deepEqual(await Promise.all([1, 2, 3].map(question)), [10, 20, 30]);
    assert.deepEqual(asked, [[1, 2, 3]]);
    await eventually(() => idle() === 1);
  });

  it('join none that has been sent', async () => {
    const answer = createGate();
    const { asked, question } = recorder({ until: answer.opened });
    const first = question(1);
    await eventually(() => asked.length === 1);
    const others = [question(2), question(3)];
    answer.open();
    assert.deepEqual(await Promise.all([first, ...others]), [10, 20, 30]);
    assert.deepEqual(asked, [[1], [2, 3]]);
  });

  it('are limited in number for each statement, and one statement is in flight at a time', async () => {
    const answer = createGate();
    const { asked, question } = recorder({ most: 2, until: answer.opened });
    const all = Promise.all([1, 2, 3, 4, 5].map(question));
    await eventually(() => asked.length > 0);
    await turnOfTheLoop();
    assert.deepEqual(asked, [[1, 2]]);
    answer.open();
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

  it('are asked alone after they have failed together, if they should not share an error', async () => {
    const { asked, question } = recorder({ isolates: true });
    const outcomes = await Promise.allSettled([question(13), question(1), question(2)]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'rejected')),
      ['rejected', 10, 20],
    );
    assert.deepEqual(asked, [[13, 1, 2], [13], [1], [2]]);
  });

  it('do not wait for an answer that is still to come', async () => {
    const answer = createGate();
    const question = together(
      async (numbers: number[]) => numbers.map((each) => (each === 1 ? answer.opened.then(() => 10) : each * 10)),
      { most: 10 },
    );
    const first = question(1);
    assert.equal(await question(2), 20);
    assert.equal(await question(3), 30);
    answer.open();
    assert.equal(await first, 10);
  });
});
