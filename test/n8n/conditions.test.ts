// Questions of n8n with several tests, split into the conditions of nodes.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eachOf, MAX_COMPARISONS, holdsCombined } from '../../graph/combined.js';
import type { Comparison } from '../../graph/condition-schema.js';
import { OPERATORS } from '../../graph/operators.js';
import { partsOf, type Atom } from '../../n8n/conditions.js';
import { judgeHere } from '../graph/judge-here.js';

const WORDS = ['', 'a', 'ab', '1', '2', '10'];
const word = fc.constantFrom(...WORDS);
const comparison = fc.record({ left: word, operator: fc.constantFrom(...OPERATORS), right: word });
const atom: fc.Arbitrary<Atom> = fc.record({ condition: comparison, isNegated: fc.boolean() });

const holds = (each: Comparison): boolean => judgeHere([each], { input: {}, results: new Map() }, 'first').length > 0;

describe('a question of n8n with several tests', () => {
  it('has the answer of its parts, whichever of its tests are opposites', () => {
    let together = 0;
    fc.assert(
      fc.property(fc.array(atom, { minLength: 1, maxLength: 50 }), fc.boolean(), (atoms, needsAll) => {
        const answers = atoms.map(({ condition, isNegated }) => holds(condition) !== isNegated);
        const parts = partsOf({ atoms, needsAll });
        const answersOfParts = parts.map(({ condition, isNegated }) => holdsCombined(condition, holds) !== isNegated);
        const answerOf = (all: boolean[]): boolean => (needsAll ? all.every(Boolean) : all.some(Boolean));
        assert.equal(answerOf(answersOfParts), answerOf(answers));
        for (const { condition } of parts) assert.ok(eachOf(condition).length <= MAX_COMPARISONS);
        if (parts.length < atoms.length) together += 1;
      }),
      { numRuns: 1_000 },
    );
    assert.ok(together > 500, `${together} of 1,000 have fewer parts than tests`);
  });

  it('is one part where no test is an opposite, or where each has one', () => {
    const starts: Comparison = { left: 'a', operator: 'starts_with', right: 'b' };
    const equals: Comparison = { left: 'a', operator: '==', right: 'b' };
    const plain = (condition: Comparison): Atom => ({ condition, isNegated: false });
    const opposite = (condition: Comparison): Atom => ({ condition, isNegated: true });
    assert.deepEqual(partsOf({ atoms: [plain(starts), plain(equals)], needsAll: true }), [
      { condition: { all: [starts, equals] }, isNegated: false },
    ]);
    assert.deepEqual(partsOf({ atoms: [opposite(starts), plain(equals)], needsAll: true }), [
      { condition: { any: [starts, { ...equals, operator: '!=' }] }, isNegated: true },
    ]);
    assert.deepEqual(partsOf({ atoms: [opposite(starts), plain(starts)], needsAll: false }), [
      { condition: starts, isNegated: true },
      { condition: starts, isNegated: false },
    ]);
  });

  it('has no more comparisons in a part than a condition may have', () => {
    const atoms = Array.from({ length: 45 }, (): Atom => ({
      condition: { left: '1', operator: '==', right: '1' },
      isNegated: false,
    }));
    assert.deepEqual(
      partsOf({ atoms, needsAll: true }).map(({ condition }) => eachOf(condition).length),
      [20, 20, 5],
    );
  });
});
