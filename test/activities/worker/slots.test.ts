import assert from 'node:assert/strict';
import type { DatabaseState } from '../../../db/core/pulse.js';
import { Slots } from '../../../activities/worker/slots.js';

/** A database whose state the test sets. */
class Database {
  state: DatabaseState = 'well';
  readonly #watchers = new Set<() => void>();

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  becomes(state: DatabaseState): void {
    this.state = state;
    for (const watcher of this.#watchers) watcher();
  }
}

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let hasSettled = false;
  promise.finally(() => (hasSettled = true)).catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  return hasSettled;
};

describe('slots of a worker', () => {
  const never = new AbortController().signal;

  it('are given out up to their number, and again when one is released', async () => {
    const slots = new Slots(2, new Database());
    await slots.reserveSlot({}, never);
    assert.notEqual(slots.tryReserveSlot(), null);
    assert.equal(slots.tryReserveSlot(), null);
    const third = slots.reserveSlot({}, never);
    assert.equal(await isSettled(third), false);
    slots.releaseSlot();
    assert.equal(await isSettled(third), true);
    assert.equal(slots.tryReserveSlot(), null);
  });

  for (const state of ['no room', 'no answer'] as const) {
    it(`are not given out while the database has ${state}, and are when it is well`, async () => {
      const database = new Database();
      const slots = new Slots(2, database);
      database.becomes(state);
      const waiting = slots.reserveSlot({}, never);
      assert.equal(slots.tryReserveSlot(), null);
      assert.equal(await isSettled(waiting), false);
      database.becomes('well');
      assert.equal(await isSettled(waiting), true);
    });
  }

  it('are not lost by a worker that stops to wait', async () => {
    const database = new Database();
    const slots = new Slots(1, database);
    database.becomes('no answer');
    const stopping = new AbortController();
    const waiting = slots.reserveSlot({}, stopping.signal);
    stopping.abort();
    await assert.rejects(waiting, (error) => error === stopping.signal.reason);
    await assert.rejects(slots.reserveSlot({}, stopping.signal), (error) => error === stopping.signal.reason);
    database.becomes('well');
    assert.notEqual(slots.tryReserveSlot(), null);
    assert.equal(slots.tryReserveSlot(), null);
  });
});
