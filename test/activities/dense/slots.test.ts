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
      void slots.takeWithin(ms, signal).then((hasSlot) => had.push(hasSlot ? name : `not ${name}`));
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

  it('are never more than their number: an activity that begins waits for one like any node', async () => {
    const slots = new Slots(1);
    const { had, take } = taker(slots);
    await slots.take(never);
    void slots.take(never).then(() => had.push('activity'));
    take('node');
    await turn();
    assert.deepEqual(had, []);
    slots.release();
    await turn();
    assert.deepEqual(had, ['activity']);
    slots.release();
    await turn();
    assert.deepEqual(had, ['activity', 'node']);
  });

  it('are refused to an activity that is cancelled while it waits', async () => {
    const slots = new Slots(1);
    await slots.take(never);
    const stop = new AbortController();
    const waiting = slots.take(stop.signal);
    stop.abort(new Error('cancelled'));
    await assert.rejects(waiting, /cancelled/);
    slots.release();
    await slots.take(never);
  });

  it('are not kept for who no longer waits', async () => {
    const slots = new Slots(1);
    const { had, take } = taker(slots);
    const stop = new AbortController();
    await slots.take(never);
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

  it('are not for a process that was paused for longer than the wait', async () => {
    const slots = new Slots(1);
    const { had, take } = taker(slots);
    await slots.take(never);
    take('paused', { ms: 30 });
    slots.release();
    const until = performance.now() + 60;
    while (performance.now() < until);
    await turn();
    assert.deepEqual(had, ['not paused']);
    take('next');
    await turn();
    assert.deepEqual(had, ['not paused', 'next']);
  });
});
