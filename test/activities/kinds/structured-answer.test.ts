import assert from 'node:assert/strict';
import { createFormChecker } from '../../../activities/kinds/structured-answer.js';
import { isHandedBack } from '../../../activities/node/failures.js';
import { parseJson } from '../../../graph/json-text.js';
import { schemaProblem } from '../../../graph/json-schema.js';
import { NodeError } from '../../../graph/node-error.js';
import type { AnswerForm } from '../../../graph/response-format.js';
import { createProcesses, ProcessesBusyError } from '../../../processes/processes.js';

const isBadFormat = (error: unknown): boolean => error instanceof NodeError && error.code === 'invalid_response_format';

describe('checks of answers', function () {
  this.timeout(120_000);
  const processes = createProcesses(new URL('../../../dist/processes/host.js', import.meta.url));
  after(() => processes.close());
  const forms = createFormChecker(processes);
  const asked = { projectId: 1, signal: new AbortController().signal };
  const checkAnswer = (content: string, form: AnswerForm) => forms.check(content, form, asked);

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
    it(`takes ${title}`, async () => {
      assert.equal(schemaProblem(schema), undefined);
      assert.deepEqual(await checkAnswer(content, { schema }), { json: parseJson(content) });
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
    it(`refuses ${title}`, async () => {
      const checked = await checkAnswer(content, { schema });
      assert.ok('problem' in checked && problem.test(checked.problem), JSON.stringify(checked));
    });
  }

  it('ends the check of a schema that takes for ever', async () => {
    // Each level refers to the next one twice: 2^60 steps.
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => {
        const next = at === 59 ? { type: 'object' } : { $ref: `#/$defs/d${at + 1}` };
        return [`d${at}`, { allOf: [next, next] }];
      }),
    );
    await assert.rejects(checkAnswer('{}', { schema: { $ref: '#/$defs/d0', $defs } }), isBadFormat);
    assert.deepEqual(await checkAnswer('{}', { schema: {} }), { json: {} }, 'the next check is as good as before');
  });

  it('refuses a schema that refers to nothing, to itself without end, or to the future, before anybody has paid', async () => {
    await assert.rejects(forms.prepare({ schema: { $ref: '#/$defs/nobody' } }, asked), isBadFormat);
    await assert.rejects(checkAnswer('1', { schema: { allOf: [{ $ref: '#' }] } }), isBadFormat);
    assert.match(schemaProblem({ $async: true, type: 'string' })!, /asynchronous/);
    // Ajv would compare each pair of them.
    const types = Array.from({ length: 12_000 }, (_, at) => at);
    assert.equal(
      schemaProblem({ properties: { a: { type: types } } }),
      'A `type` in a JSON Schema should list no type twice',
    );
    assert.equal(schemaProblem({ type: ['string', 'null'] }), undefined);
    await assert.rejects(forms.prepare({ schema: { $async: true } }, asked), isBadFormat);
    await assert.rejects(
      forms.prepare({ schema: { properties: { a: { $async: true, type: 'null' } } } }, asked),
      isBadFormat,
    );
  });

  describe('while no process can be started', () => {
    const form = { schema: { type: 'number' } };
    let tries: number;
    /** The first `failures` tries start no process. */
    function failingFor(failures: number, patience?: { repeats: number; pauseMs: number }) {
      tries = 0;
      const run = () => {
        tries += 1;
        if (tries <= failures) return Promise.reject(new ProcessesBusyError('No process could be started.'));
        return Promise.resolve({ kind: 'checked', problem: undefined } as const);
      };
      return createFormChecker({ run, close: () => undefined }, patience);
    }

    it('frees the slot of a node whose answer is not paid for', async () => {
      await assert.rejects(failingFor(1).prepare(form, asked), isHandedBack);
      assert.equal(tries, 1);
    });

    it('repeats the check of an answer, which may be paid for, so often and not more often', async () => {
      const patience = { repeats: 3, pauseMs: 0 };
      assert.deepEqual(await failingFor(3, patience).check('5', form, asked), { json: 5 });
      assert.equal(tries, 4);
      await assert.rejects(failingFor(4, patience).check('5', form, asked), ProcessesBusyError);
      assert.equal(tries, 4);
    });

    it('stops to repeat with the reason of its signal', async () => {
      const stop = new AbortController();
      const checked = failingFor(Infinity, { repeats: Infinity, pauseMs: 0 }).check('5', form, {
        ...asked,
        signal: stop.signal,
      });
      stop.abort(new Error('the node has ended'));
      await assert.rejects(checked, /the node has ended/);
    });
  });

  it('takes any object, and nothing else, where no schema is given', async () => {
    assert.deepEqual(await checkAnswer('{}', {}), { json: {} });
    assert.ok('problem' in (await checkAnswer('[]', {})));
  });
});
