import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { ProjectSlots } from '../../../activities/worker/project-slots.js';

const { signal: never } = new AbortController();
setMaxListeners(0, never);
const LONG_MS = 10_000;
const [A, B, C] = [1, 2, 3];

describe('the slots of projects', () => {
  /** Requests `count` slots for the project, and counts how many it got. */
  function fill(slots: ProjectSlots, projectId: number, count: number) {
    const state = { got: 0, refused: 0 };
    for (let asked = 0; asked < count; asked++) {
      void Promise.resolve(slots.take(projectId, LONG_MS, never)).then((has) => has && state.got++);
    }
    return state;
  }

  it('are its share at most while it is alone, and go to its own activities in the order of their arrival', async () => {
    const slots = new ProjectSlots({ slots: 10, projectSlots: 8 });
    assert.equal(fill(slots, A, 8).got, 0);
    await turn();
    assert.deepEqual(slots.load(), { waitingActivities: 0, largestShare: 8 });
    const [first, second] = [fill(slots, A, 1), fill(slots, A, 1)];
    await turn();
    assert.deepEqual([first.got, second.got, slots.load().waitingActivities], [0, 0, 2]);
    const stopped = new AbortController();
    const further = slots.take(A, LONG_MS, stopped.signal, true);
    assert.equal(slots.load().waitingActivities, 2, 'a further node of a walk is no activity');
    stopped.abort();
    assert.equal(await further, false);
    slots.release(A);
    await turn();
    assert.deepEqual([first.got, second.got], [1, 0]);
    slots.release(A);
    await turn();
    assert.deepEqual(slots.load(), { waitingActivities: 0, largestShare: 8 });
  });

  it('are never refused to a project that holds none', async () => {
    const slots = new ProjectSlots({ slots: 5, projectSlots: 4 });
    const [a, b] = [fill(slots, A, 4), fill(slots, B, 1)];
    await turn();
    assert.deepEqual([a.got, b.got], [4, 1]);
  });

  it('come to about the same number for two projects that want all of them, and some are left for a third', async () => {
    const slots = new ProjectSlots({ slots: 100, projectSlots: 80 });
    const [a, b] = [fill(slots, A, 200), fill(slots, B, 200)];
    await turn();
    assert.equal(a.got, 80);
    // The calls of A end one after the other: its slots go to B until both hold the same number.
    let held = 80;
    for (let ended = 0; ended < 100; ended++) {
      const before = a.got;
      slots.release(A);
      await turn();
      held += a.got - before - 1;
    }
    assert.ok(Math.abs(held - b.got) <= 1 && held + b.got < 90, `${held} and ${b.got}`);
    const c = fill(slots, C, 10);
    await turn();
    assert.ok(c.got >= 8, `${c.got}`);
  });

  it('are not limited where a project may hold all of them', async () => {
    const slots = new ProjectSlots({ slots: 3, projectSlots: 3 });
    const a = fill(slots, A, 3);
    await turn();
    assert.equal(a.got, 3);
  });

  it('are waited for no longer than said, and not beyond a cancel', async () => {
    const slots = new ProjectSlots({ slots: 2, projectSlots: 1 });
    assert.equal(await slots.take(A, LONG_MS, never), true);
    assert.equal(await slots.take(A, 5, never), false);
    const cancel = new AbortController();
    const waiting = slots.take(A, LONG_MS, cancel.signal);
    cancel.abort();
    assert.equal(await waiting, false);
    assert.equal(await slots.take(A, LONG_MS, cancel.signal), false);
    assert.equal(slots.load().waitingActivities, 0);
    slots.release(A);
    assert.equal(await slots.take(A, LONG_MS, never), true);
  });
});
