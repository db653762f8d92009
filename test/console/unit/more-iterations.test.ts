import assert from 'node:assert/strict';
import { iterationPath } from '../../../graph/iteration-path.js';
import { nodeKey } from '../../../console/live/live-run.js';
import { loopOf, pageToLoad } from '../../../console/parts/run/more-iterations.js';

/** Returns the keys of a node in these iterations of a loop. */
const keysOf = (indexes: Iterable<number>, loop: string, path = ''): string[] =>
  Array.from(indexes, (index) => nodeKey('call', iterationPath(path, loop, index)));
const first = (count: number) => Array.from({ length: count }).keys();

describe('the iterations of a loop that the page of a run lacks', () => {
  const loop = { node: 'each/page', path: '' };

  it('are on the page of the first of which nothing is known', () => {
    const keys = ['each/page', ...keysOf(first(100), 'each/page')];
    assert.equal(pageToLoad(keys, loop, 250), 2);
    assert.equal(pageToLoad(keysOf(first(199), 'each/page'), loop, 250), 2);
    assert.equal(pageToLoad(keysOf(first(200), 'each/page'), loop, 250), 3);
    const followedLate = [...keys, ...keysOf([240, 241, 242], 'each/page')];
    assert.equal(pageToLoad(followedLate, loop, 243), 2, 'the gap, not the end');
  });

  it('are none where something is known of each, and no page twice where nothing comes of one', () => {
    assert.equal(pageToLoad(keysOf(first(250), 'each/page'), loop, 250), undefined);
    assert.equal(pageToLoad([], loop, 0), undefined);
    assert.equal(pageToLoad([], loop, 150, 1), 2);
    assert.equal(pageToLoad([], loop, 150, 2), undefined);
  });

  it('are those of this loop alone, in the iteration around it', () => {
    const inner = { node: 'row', path: iterationPath('', 'each/page', 3) };
    const keys = [...keysOf(first(100), 'row', inner.path), ...keysOf(first(300), 'row', 'each%2Fpage[30]')];
    assert.equal(pageToLoad(keys, inner, 300), 2);
    assert.equal(pageToLoad(keys, loop, 4), 1, 'nothing is known of iteration 0');
    assert.deepEqual(loopOf(iterationPath(inner.path, 'row', 12)), inner);
    assert.deepEqual(loopOf(inner.path), loop);
  });
});
