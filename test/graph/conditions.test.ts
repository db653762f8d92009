// Conditions of several comparisons: which are valid, and when they hold.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compilePlan } from '../../graph/compile-plan.js';
import type { Comparison, Condition } from '../../graph/condition-schema.js';
import { toQuestions, type QuestionMode } from '../../graph/judge.js';
import { compileSchema } from '../../graph/json-schema.js';
import { NodeError } from '../../graph/node-error.js';
import { describeNodes } from '../../graph/nodes/describe-nodes.js';
import { renderData } from '../../graph/rendered-data.js';
import { validateNodes } from '../../graph/validate.js';
import { perform, questionsWork } from '../../processes/work.js';
import { drawing } from './drawings.js';
import { judgeHere } from './judge-here.js';

const values = { input: { one: 1, word: 'Oslo', broken: '(' }, results: new Map() };
const yes: Comparison = { left: '{{ input.one }}', operator: '==', right: '1.0' };
const no: Comparison = { left: '{{ input.word }}', operator: 'starts_with', right: 'B' };
const fails: Comparison = { left: 'a', operator: 'matches', right: '{{ input.broken }}' };

/** Returns the errors of a condition, as `path: message`, with paths inside it. */
function errorsOf(condition: unknown): string[] {
  const compiled = compilePlan(drawing([{ id: 'c', type: 'if-else-node', data: { condition } }]));
  assert.ok(compiled.ok);
  const errors = validateNodes(compiled.document, compiled.plan)['c'] ?? [];
  return errors.flatMap((error) =>
    Object.entries(error).map(([path, message]) => `${path.replace(/^condition\.?/, '')}: ${message}`),
  );
}

function nested(depth: number, inner: unknown): unknown {
  let condition = inner;
  for (let lists = 0; lists < depth; lists += 1) condition = { [lists % 2 === 0 ? 'all' : 'any']: [condition] };
  return condition;
}

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

describe('a condition of several comparisons', () => {
  const valid: [title: string, condition: unknown][] = [
    ['a list of one', { any: [yes] }],
    ['comparisons beside lists', { all: [yes, { any: [no, { all: [yes, no] }] }, fails] }],
    ['a comparison in three lists', nested(3, yes)],
    ['twenty comparisons in one list', { all: times(20, yes) }],
    ['twenty comparisons in several lists', { any: [{ all: times(10, yes) }, { any: times(9, no) }, yes] }],
    ['a pattern that is only known later', { all: [fails] }],
    ['keys of the editor', { any: [{ ...yes, color: 'red' }], color: 'blue' }],
  ];
  for (const [title, condition] of valid) {
    it(`may be ${title}`, () => assert.deepEqual(errorsOf(condition), []));
  }

  const refused: [title: string, condition: unknown, errors: string[]][] = [
    ['an empty list', { all: [] }, ['all: List should have at least 1 item after validation, not 0']],
    [
      'an empty list in a list',
      { all: [yes, { any: [] }] },
      ['all.1.any: List should have at least 1 item after validation, not 0'],
    ],
    ['both lists', { all: [yes], any: [no] }, ["any: Input should be left out beside 'all'"]],
    [
      'both lists, within a list',
      { any: [{ all: [yes], any: [no] }] },
      ["any.0.any: Input should be left out beside 'all'"],
    ],
    [
      'a comparison beside a list',
      { ...yes, any: [no] },
      ['left', 'operator', 'right'].map((field) => `${field}: Input should be left out beside 'any'`),
    ],
    ['a list in three lists', nested(4, yes), ['any.0.all.0.any.0.all: A comparison should stand in at most 3 lists']],
    ['lists without end', nested(9_000, yes), ['any.0.all.0.any.0.all: A comparison should stand in at most 3 lists']],
    ['a list that is none', { all: yes }, ['all: Input should be a valid list']],
    ['null for a list', { any: null }, ['any: Input should be a valid list']],
    [
      'null beside a list',
      { any: [yes], all: null },
      ["any: Input should be left out beside 'all'", 'all: Input should be a valid list'],
    ],
    [
      'what is no condition',
      { all: [yes, 'no', null, []] },
      [1, 2, 3].map((at) => `all.${at}: Input should be a valid dictionary`),
    ],
    [
      'half a comparison',
      { any: [{}, { left: '1', operator: '==' }] },
      ['any.0.left', 'any.0.operator', 'any.0.right', 'any.1.right'].map((path) => `${path}: Field required`),
    ],
    [
      'an invalid pattern, although it is never judged',
      { any: [yes, { left: '', operator: 'matches', right: 'a(' }] },
      ['any.1.right: Input should be a valid RE2 pattern: missing closing ): `a(`'],
    ],
    ['21 comparisons in a list', { all: times(21, yes) }, [': A condition should have at most 20 comparisons, not 21']],
    [
      '21 comparisons in several lists',
      { any: [{ all: times(10, yes) }, { any: times(10, no) }, yes] },
      [': A condition should have at most 20 comparisons, not 21'],
    ],
  ];
  for (const [title, condition, errors] of refused) {
    it(`is none with ${title}`, () => assert.deepEqual(errorsOf(condition).toSorted(), errors.toSorted()));
  }

  it('has its paths in a case of a switch, and in a loop', () => {
    const wrong = { all: [yes, { left: '1', operator: '==' }] };
    const nodes = [
      { id: 's', type: 'switch-node', data: { cases: [{ id: 'a', condition: wrong, node: 'l' }] } },
      { id: 'l', type: 'loop-node', data: { until: wrong, body_node: 'b' } },
      { id: 'b', type: 'set-node', data: { value: 1 } },
    ];
    const compiled = compilePlan(drawing(nodes));
    assert.ok(compiled.ok, JSON.stringify(compiled));
    assert.deepEqual(validateNodes(compiled.document, compiled.plan), {
      s: [{ 'cases.0.condition.all.1.right': 'Field required' }],
      l: [{ 'until.all.1.right': 'Field required' }],
    });
  });

  it('is shown to readers of a run with its variables filled in', () => {
    const condition = { all: [yes, { any: [{ ...no, note: 1 }] }] };
    const filled = { all: [{ ...yes, left: '1' }, { any: [{ ...no, left: 'Oslo', note: 1 }] }] };
    assert.deepEqual(renderData('condition', { condition }, values, 1_000), { condition: filled });
    const cases = [{ id: '{{ input.one }}', condition }];
    assert.deepEqual(renderData('switch', { cases }, values, 1_000), {
      cases: [{ id: '{{ input.one }}', condition: filled }],
    });
  });
});

/** A comparison whose answer is known, or a list of such comparisons and lists. */
type Known = { comparison: Comparison; answer: boolean | 'fails' } | { all: Known[] } | { any: Known[] };

const comparisons: [comparison: Comparison, answer: boolean | 'fails'][] = [
  [yes, true],
  [no, false],
  [fails, 'fails'],
  [{ left: true, operator: '!=', right: 'true' }, false],
  [{ left: '', operator: 'is_empty' }, true],
  [{ left: 'b', operator: 'in', right: '["a", "b"]' }, true],
  [{ left: '10', operator: '<', right: 9 }, false],
  [{ left: '{{ input.word }}', operator: 'matches', right: '^Os' }, true],
];

const known: fc.Arbitrary<Known> = fc.constantFrom(
  ...comparisons.map(([comparison, answer]) => ({ comparison, answer })),
);
const listOf = (item: fc.Arbitrary<Known>, maxLength: number): fc.Arbitrary<Known> =>
  fc
    .tuple(fc.boolean(), fc.array(item, { minLength: 1, maxLength }))
    .map(([isAll, items]) => (isAll ? { all: items } : { any: items }));
// At most 20 comparisons: 4 lists of 2 lists of 2, and 4 beside them.
const inner = listOf(known, 2);
const middle = listOf(fc.oneof(known, inner), 2);
const condition: fc.Arbitrary<Known> = fc.oneof(known, listOf(fc.oneof(known, middle), 5));

function toCondition(of: Known): Condition {
  if ('comparison' in of) return of.comparison;
  return 'all' in of ? { all: of.all.map(toCondition) } : { any: of.any.map(toCondition) };
}

class Failed extends Error {}

/** Evaluates from left to right, independently of the tested code. */
function answerOf(of: Known): boolean {
  if ('comparison' in of) {
    if (of.answer === 'fails') throw new Failed();
    return of.answer;
  }
  if ('all' in of) {
    for (const item of of.all) if (!answerOf(item)) return false;
    return true;
  }
  for (const item of of.any) if (answerOf(item)) return true;
  return false;
}

function heldOf(conditions: readonly Known[], mode: QuestionMode): number[] | 'invalid_pattern' {
  const held: number[] = [];
  try {
    for (const [index, of] of conditions.entries()) {
      if (answerOf(of)) held.push(index);
      if (mode === 'first' && held.length > 0) break;
    }
    return held;
  } catch (error) {
    if (error instanceof Failed) return 'invalid_pattern';
    throw error;
  }
}

describe('conditions that are judged', () => {
  it('hold as a plain evaluator says, which stops where the answer is known, here and in another process', () => {
    let failed = 0;
    let stopped = 0;
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1, maxLength: 3 }), fc.constantFrom('first', 'all'), (all, mode) => {
        const conditions = all.map(toCondition);
        for (const each of conditions) assert.deepEqual(errorsOf(each), []);
        const expected = heldOf(all, mode);
        const holdsFailure = JSON.stringify(conditions).includes('input.broken');
        if (expected === 'invalid_pattern') failed += 1;
        else if (holdsFailure) stopped += 1;
        try {
          assert.deepEqual(judgeHere(conditions, values, mode), expected);
        } catch (error) {
          if (!(error instanceof NodeError)) throw error;
          assert.equal(error.code, expected);
        }
        const reply = perform(questionsWork(toQuestions(conditions, values), mode)) as {
          kind: string;
          held?: unknown;
          code?: unknown;
        };
        assert.deepEqual(reply.kind === 'held' ? reply.held : reply.code, expected);
      }),
      { numRuns: 2_000 },
    );
    assert.ok(failed > 100 && stopped > 100, `${failed} failed, and ${stopped} did not reach what fails`);
  });

  it('are valid by the schema of get_nodes where the service takes them, and by no other', () => {
    const { schema } = describeNodes().find(({ type }) => type === 'if-else-node')!;
    const check = compileSchema(schema);
    const odd = fc.constantFrom<unknown>(
      {},
      [],
      null,
      'x',
      { all: [] },
      { left: 1 },
      { left: 1, operator: '=', right: 2 },
      { left: '', operator: 'is_empty' },
    );
    const comparison = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<unknown>(yes, no) },
      { weight: 1, arbitrary: odd },
    );
    const { deep } = fc.letrec<{ deep: unknown; list: unknown }>((tie) => ({
      list: fc
        .tuple(fc.constantFrom('all', 'any', 'both'), fc.array(tie('deep'), { minLength: 1, maxLength: 3 }))
        .map(([key, items]) =>
          key === 'both' && items.length === 3 ? { all: items, any: items } : { [key === 'both' ? 'all' : key]: items },
        ),
      deep: fc.oneof({ maxDepth: 4, withCrossShrink: true }, comparison, tie('list')),
    }));
    const counts = { valid: 0, refused: 0 };
    fc.assert(
      fc.property(deep, (of) => {
        const errors = errorsOf(of).filter((error) => !error.startsWith(': A condition should have at most'));
        counts[errors.length === 0 ? 'valid' : 'refused'] += 1;
        assert.equal(
          check({ condition: of }) === undefined,
          errors.length === 0,
          `${errors.join()} ${check({ condition: of })}`,
        );
      }),
      { numRuns: 2_000 },
    );
    assert.ok(counts.valid > 200 && counts.refused > 200, JSON.stringify(counts));
  });
});
