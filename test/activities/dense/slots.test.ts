import assert from 'node:assert/strict';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { Slots } from '../../../activities/dense/slots.js';

const { signal: never } = new AbortController();
const LONG_MS = 10_000;

describe('slots', () => {
  /** Waits for a slot and notes how that ended. */
  function taker(slots: Slots) {
    const had: string[] = [];
    const take = (name: string, { ms = LONG_MS, signal = never } = {}): void => {
      void slots.take(ms, signal).then((hasSlot) => had.push(hasSlot ? name : `not ${name}`));
    };
    return { had, take };
  }

  it('are so many at once, and go round in the order of those who wait', async () => {
    const slots = new Slots(2);
    const { had, take } = taker(slots);
    for (const name of ['a', 'b', 'c', 'd', 'e']) take(name);
    await turn();
    assert.deepEqual(had, ['a', 'b']);
    slots.release();
    await turn();
    assert.deepEqual(had, ['a', 'b', 'c']);
    slots.release();
    slots.release();
    await turn();
    assert.deepEqual(had, ['a', 'b', 'c', 'd', 'e']);
  });

  it('are lent beyond their number to who takes one in any case: the others wait until that is made up for', async () => {
    const slots = new Slots(1);
    const { had, take } = taker(slots);
    slots.hold();
    slots.hold();
    take('a');
    slots.release();
    await turn();
    assert.deepEqual(had, []);
    slots.release();
    await turn();
    assert.deepEqual(had, ['a']);
  });

  it('are not kept for who no longer waits', async () => {
    const slots = new Slots(1);
    const { had, take } = taker(slots);
    const stop = new AbortController();
    slots.hold();
    take('stopped', { signal: stop.signal });
    take('late', { ms: 20 });
    take('patient');
    stop.abort();
    await turn();
    take('stopped before', { signal: stop.signal });
    await pause(60);
    assert.deepEqual(had, ['not stopped', 'not stopped before', 'not late']);
    slots.release();
    await turn();
    assert.deepEqual(had.at(-1), 'patient');
    slots.release();
    take('after');
    await turn();
    assert.deepEqual(had.at(-1), 'after');
  });

  it('are not for who stood still beyond its time, as all of this process does here', async () => {
    const slots = new Slots(1);
    const { had, take } = taker(slots);
    slots.hold();
    take('frozen', { ms: 30 });
    slots.release();
    const until = performance.now() + 60;
    while (performance.now() < until);
    await turn();
    assert.deepEqual(had, ['not frozen']);
    take('next');
    await turn();
    assert.deepEqual(had, ['not frozen', 'next']);
  });
});
