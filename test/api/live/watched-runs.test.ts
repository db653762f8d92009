import assert from 'node:assert/strict';
import { WatchedRuns } from '../../../api/live/watched-runs.js';

const [RUN, OTHER_RUN] = ['run', 'other run'];
const [GREEDY, MODEST] = [1, 2];
const nothing = (): void => undefined;

describe('the readers that wait for runs in a process', () => {
  const enter = (runs: WatchedRuns, userId: number, count: number): (() => void)[] =>
    Array.from({ length: count }, (_, index) => {
      const place = { runId: index % 2 === 0 ? RUN : OTHER_RUN, userId };
      // Each reader needs its own function, because readers are counted by their function.
      return index % 3 === 0 ? runs.watch(place, () => nothing()) : runs.follow(place, () => nothing());
    });

  it('are at most 2,000 of one user, and 3,000 in all, so that one user cannot exclude all others', () => {
    const runs = new WatchedRuns(nothing);
    enter(runs, GREEDY, 1_999);
    assert.equal(runs.hasRoomFor(GREEDY), true);
    enter(runs, GREEDY, 1);
    assert.deepEqual([runs.hasRoomFor(GREEDY), runs.hasRoomFor(MODEST)], [false, true]);
    enter(runs, MODEST, 1_000);
    assert.equal(runs.hasRoomFor(MODEST), false);
  });

  it('free one place when they leave, however often their leave function is called', () => {
    const runs = new WatchedRuns(nothing);
    const leave = enter(runs, GREEDY, 2_000);
    for (const end of leave.slice(0, 2)) {
      end();
      end();
    }
    enter(runs, GREEDY, 1);
    assert.equal(runs.hasRoomFor(GREEDY), true);
    enter(runs, GREEDY, 1);
    assert.deepEqual([runs.hasRoomFor(GREEDY), runs.readers], [false, 2_000]);
  });
});
