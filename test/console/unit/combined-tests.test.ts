import assert from 'node:assert/strict';
import { countTests, isFormed, pathOfLast, withoutItem, withTest } from '../../../console/forms/combined-tests.js';

const is = (left: string) => ({ left, operator: '==', right: '' });
const [a, b, c] = [is('a'), is('b'), is('c')];

describe('the tests of a condition', () => {
  it('become a list with the second one, and a group holds the other way round', () => {
    assert.deepEqual(withTest(a, b), { all: [a, b] });
    assert.deepEqual(withTest({ any: [a] }, b), { any: [a, b] });
    assert.deepEqual(withTest({ any: [a] }, b, true), { any: [a, { all: [b] }] });
    assert.deepEqual(withTest(a, b, true), { all: [a, { any: [b] }] });
    assert.deepEqual(pathOfLast(withTest(a, b, true)), ['all', 1, 'any', 0]);
  });

  it('begin with an empty test, which the form shows, where a node has no condition', () => {
    const empty = is('');
    assert.deepEqual(withTest(undefined, empty), { all: [empty, empty] });
    assert.deepEqual(withTest(undefined, empty, true), { all: [empty, { any: [empty] }] });
  });

  it('become one again when all others are removed, and a group ends with its last test', () => {
    assert.deepEqual(withoutItem({ all: [a, b] }, 0, true), b);
    assert.deepEqual(withoutItem({ all: [a, { any: [b, c] }] }, 0, true), { any: [b, c] });
    assert.deepEqual(withoutItem({ all: [a, { any: [b] }] }, 0, true), b, 'a group of one is no list either');
    assert.deepEqual(withoutItem({ all: [a, { any: [{ all: [b, c] }] }] }, 0, true), { all: [b, c] });
    assert.deepEqual(withoutItem({ any: [b, c] }, 0, false), { any: [c] });
    assert.equal(withoutItem({ any: [b] }, 0, false), undefined);
  });

  it('are counted at any depth, and shown as a form only where nothing would be lost', () => {
    assert.equal(countTests({ all: [a, { any: [b, c] }] }), 3);
    const deep = { all: [{ any: [{ all: [a] }] }] };
    assert.deepEqual(
      [undefined, a, deep].map((each) => isFormed(each)),
      [true, true, true],
    );
    const strange = [{ any: [deep] }, { all: [a], any: [b] }, { all: 'a' }, { all: ['a'] }, 'a', null];
    assert.deepEqual(
      strange.filter((each) => isFormed(each)),
      [],
    );
  });
});
