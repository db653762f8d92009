import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { withCheckBudget } from '../../graph/check-budget.js';
import { answerQuestions, areCheap } from '../../graph/judge.js';
import { NodeError } from '../../graph/node-error.js';
import { matchesPattern, patternProblem } from '../../graph/pattern.js';
import { patternSize } from '../../graph/pattern-size.js';
import { holds } from '../../graph/operators.js';
import { createEqualityTest } from '../../graph/condition.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

/** The limit leaves room for a slow machine; unbounded work takes minutes, or does not end. */
const BOUND_MS = 15_000;

const isInvalid = (error: unknown): boolean => error instanceof NodeError && error.code === 'invalid_pattern';

describe('patterns of users', () => {
  const atoms = fc.constantFrom(
    'a',
    '.',
    '[a-z]',
    '[^]x]',
    '[[:alpha:]]',
    String.raw`\d`,
    String.raw`\pL`,
    String.raw`\p{Greek}`,
    String.raw`\x{41}`,
    String.raw`\Qa{9}\E`,
    '^',
    String.raw`\b`,
    '🙂',
    '{',
    String.raw`\[`,
  );
  const repeats = fc.constantFrom('', '', '*', '+?', '?', '{3}', '{0}', '{2,}', '{0,5}', '{1,7}?');
  const pattern: fc.Arbitrary<string> = fc.letrec<{ all: string; part: string }>((tie) => ({
    part: fc.tuple(fc.oneof({ weight: 4, arbitrary: atoms }, group(tie('all'))), repeats).map((pair) => pair.join('')),
    all: fc
      .array(fc.array(tie('part'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
      .map((ways) => ways.map((way) => way.join('')).join('|')),
  })).all;
  function group(inside: fc.Arbitrary<string>): fc.Arbitrary<string> {
    return fc.tuple(fc.constantFrom('(', '(?:', '(?P<n>', '(?i:'), inside).map(([open, text]) => `${open}${text})`);
  }

  it('compile to no more instructions than was reckoned before', () => {
    let compiled = 0;
    fc.assert(
      fc.property(pattern, (text) => {
        const size = sizeOf(text);
        if (size === undefined) return;
        compiled += 1;
        assert.ok(size <= patternSize(text), `${text} has ${size} instructions, not ${patternSize(text)}`);
      }),
      { numRuns: 2_000 },
    );
    assert.ok(compiled > 300, `only ${compiled} of them compile`);
  });

  function sizeOf(text: string): number | undefined {
    try {
      return RE2JS.compile(text).programSize();
    } catch {
      return undefined;
    }
  }

  it('are measured in linear time, and not at all if they are too long, before anything decides where they run', () => {
    const opened = `[${'[:'.repeat(500_000)}`;
    assert.ok(cpuMilliseconds(() => patternSize(opened)) < BOUND_MS);
    assert.ok(cpuMilliseconds(() => areCheap([{ left: 'a', operator: 'matches', right: opened }])) < BOUND_MS);
    assert.equal(areCheap([{ left: 'a', operator: 'matches', right: opened }]), false);
  });

  it('are not the only hostile right sides: a list that is nested too deeply to be written holds no text', () => {
    const deep = `${'['.repeat(20_000)}12345678901234567890${']'.repeat(20_000)}`;
    assert.equal(holds('x', 'in', deep), false);
  });

  it('are taken up to their limits', () => {
    assert.equal(matchesPattern('x'.repeat(1_000), 'x{1000}'), true);
    assert.equal(matchesPattern('\u1234', String.raw`^\x{1234}$`), true);
    assert.throws(() => matchesPattern('x', 'x'.repeat(1_001)), isInvalid);
    assert.throws(() => matchesPattern('x', '(?:ab){1000}c{1000}'), isInvalid);
    assert.throws(
      () => matchesPattern('a'.repeat(500_000), 'a{99}b'),
      /at most \d+ characters, and this one has 500000/,
    );
  });

  it('cost a bounded time, whatever they and the text are', () => {
    const text = `c=yx${'ab'.repeat(5_000_000)}`;
    const hostile = [
      '(a+)+$',
      '(a|a)*b',
      '(?:a|b)*a(?:a|b){20}c',
      'a(?:a|b){900}c',
      '(?:a?){500}a{500}c',
      '.*.*.*.*.*=.*c',
      '(a{1000}){1000}',
      '(((a{100}){100}){100})',
      'a{1,1000}{1,1000}',
      '('.repeat(500),
      '(?:(?:|a)+)+c',
      String.raw`\pL{999}`,
      String.raw`\p{L}`.repeat(190),
      `(?i)${String.raw`[^\pL]`.repeat(120)}`,
      '[a-z]{0,999}{9}',
    ];
    const tookMs = cpuMilliseconds(() => {
      for (const each of hostile) {
        for (const length of [1_000, 100_000, text.length]) {
          try {
            matchesPattern(text.slice(0, length), each);
          } catch (error) {
            assert.ok(isInvalid(error), `${each}: ${String(error)}`);
          }
        }
      }
    });
    assert.ok(tookMs < BOUND_MS, `${tookMs} ms`);
  });

  it('share the steps of a node, and have steps of their own in the expectations of a case', () => {
    const left = `${'x'.repeat(60_000)}end`;
    const questions = ['a', 'b', 'c', 'd'].map((sign) => {
      return { left, operator: 'matches' as const, right: `${sign.repeat(100)}|end` };
    });
    assert.throws(() => answerQuestions(questions, 'all'), isInvalid);
    assert.deepEqual(answerQuestions(questions, 'each'), [0, 1, 2, 3]);
  });

  it('are looked at within a budget when a drawing is validated, each distinct one', () => {
    let looked = 0;
    const tookMs = cpuMilliseconds(() => {
      withCheckBudget(() => {
        for (let at = 0; at < 20_000; at += 1) if (patternProblem(`(?:ab){900}${at}(`) !== undefined) looked += 1;
      });
    });
    assert.ok(looked > 0 && looked < 100, `${looked} were looked at`);
    assert.ok(tookMs < BOUND_MS, `${tookMs} ms`);
    assert.match(patternProblem('a(') ?? '', /^Input should be a valid RE2 pattern: missing closing \)/);
    assert.equal(patternProblem('a|b'), undefined);
    assert.match(patternProblem('(a{1000}){1000}') ?? '', /too large/);
  });
});

describe('other operators', () => {
  it('find what JavaScript finds', () => {
    const word = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });
    fc.assert(
      fc.property(word(12), word(6), word(12), fc.integer({ min: 60, max: 80 }), (before, part, after, times) => {
        const searched = part.repeat(times);
        const text = `${before}${part.repeat(times * 2)}${after}`;
        for (const each of [searched, `${searched}a`, `b${searched}`])
          assert.equal(holds(text, 'contains', each), text.includes(each));
      }),
      { numRuns: 500 },
    );
  });

  it('take sides of megabytes in linear time', () => {
    const number = '7'.repeat(2_000_000);
    const list = `[${'1,'.repeat(500_000)}2]`;
    const tookMs = cpuMilliseconds(() => {
      assert.equal(holds(number, 'in', list), false);
      assert.equal(holds(number, 'in', '1,'.repeat(1_000_000)), false);
      assert.equal(holds(`[${' '.repeat(8_000_000)}`, 'is_empty', ''), false);
      const as = 'a'.repeat(2_000_000);
      assert.equal(holds(`${as}${as}b`, 'contains', `${as}c${as}`), false);
      assert.equal(holds(`${as}c${as}b${as}`, 'not_contains', `b${as}`), false);
      assert.equal(createEqualityTest(number)(`${number}.0`), true);
    });
    assert.ok(tookMs < BOUND_MS, `${tookMs} ms`);
  });
});
