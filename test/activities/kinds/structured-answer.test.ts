import assert from 'node:assert/strict';
import { checkAnswer, prepareForm } from '../../../activities/kinds/structured-answer.js';
import { OutOfTimeError, withinTime } from '../../../activities/kinds/within-time.js';
import { parseJson } from '../../../graph/json-text.js';
import { schemaProblem } from '../../../graph/json-schema.js';
import { NodeError } from '../../../graph/node-error.js';
import { cpuMilliseconds } from '../../support/cpu-time.js';

const isBadFormat = (error: unknown): boolean => error instanceof NodeError && error.code === 'invalid_response_format';

describe('checkAnswer', () => {
  const fits: [title: string, schema: object, content: string][] = [
    ['a bare number', { type: 'number' }, ' 5 '],
    ['a bare text', { enum: ['yes', 'no'] }, '"yes"'],
    ['a reference within the schema', { $ref: '#/$defs/a', $defs: { a: { type: 'array' } } }, '[1]'],
    ['a schema that refers to itself', { properties: { next: { $ref: '#' } } }, '{"next":{"next":{}}}'],
    [
      'a tuple of draft-07',
      { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
      '["a", 1]',
    ],
    ['a tuple of draft 2020-12', { prefixItems: [{ type: 'string' }] }, '["a", 1]'],
    ['an integer beyond 2^53', { type: 'integer', minimum: 5 }, '12345678901234567890'],
    ['a pattern of RE2', { pattern: '^(a+)+$' }, `"${'a'.repeat(200)}"`],
    ['a pattern that RE2 does not know, which is not checked', { pattern: '^(?!x)' }, '"x"'],
    ['a format, which is not checked', { format: 'email' }, '"nobody"'],
    ['unknown keywords', { 'x-note': 1, example: 'a' }, '{}'],
  ];
  for (const [title, schema, content] of fits) {
    it(`takes ${title}`, () => {
      assert.equal(schemaProblem(schema), undefined);
      assert.deepEqual(checkAnswer(content, { schema }), { json: parseJson(content) });
    });
  }

  const misfits: [title: string, schema: object, content: string, problem: RegExp][] = [
    ['another type', { type: 'number' }, '"5"', /must be number/],
    ['a word that is not allowed', { enum: ['yes', 'no'] }, '"maybe"', /allowed values: \["yes","no"\]/],
    ['no tuple', { prefixItems: [{ type: 'string' }] }, '[1]', /\/0 must be string/],
    ['a pattern that does not match', { pattern: '^(a+)+$' }, `"${'a'.repeat(40)}b"`, /must match pattern/],
    ['a key that every object has', { required: ['constructor'] }, '{}', /required property 'constructor'/],
    ['half an object', {}, '{"a": ', /not JSON/],
  ];
  for (const [title, schema, content, problem] of misfits) {
    it(`refuses ${title}`, () => {
      const checked = checkAnswer(content, { schema });
      assert.ok('problem' in checked && problem.test(checked.problem), JSON.stringify(checked));
    });
  }

  it('ends the check of a schema that takes for ever', () => {
    // Each level asks the next one twice: 2^60 steps.
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => {
        const next = at === 59 ? { type: 'object' } : { $ref: `#/$defs/d${at + 1}` };
        return [`d${at}`, { allOf: [next, next] }];
      }),
    );
    const tookMs = cpuMilliseconds(() => {
      assert.throws(() => checkAnswer('{}', { schema: { $ref: '#/$defs/d0', $defs } }), isBadFormat);
      assert.deepEqual(checkAnswer('{}', {}), { json: {} }, 'the next check is as good as before');
    });
    assert.ok(tookMs < 20_000, `${tookMs} ms`);
  });

  it('refuses a schema that refers to nothing, or to itself without end, before anybody has paid', () => {
    assert.throws(() => prepareForm({ schema: { $ref: '#/$defs/nobody' } }), isBadFormat);
    assert.throws(() => checkAnswer('1', { schema: { allOf: [{ $ref: '#' }] } }), isBadFormat);
  });
});

describe('withinTime', () => {
  it('gives what the work gives, and throws what it throws', () => {
    assert.equal(
      withinTime(1_000, () => 5),
      5,
    );
    assert.throws(
      () =>
        withinTime(1_000, () => {
          throw new TypeError('of the work');
        }),
      TypeError,
    );
  });

  it('ends a loop', () => {
    const startedAt = performance.now();
    assert.throws(
      () =>
        withinTime(100, () => {
          for (;;);
        }),
      OutOfTimeError,
    );
    assert.ok(performance.now() - startedAt < 20_000);
  });
});
