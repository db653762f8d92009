import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  findVariables,
  RenderedTooLargeError,
  renderJson,
  renderText,
  type VariableValues,
} from '../../graph/template.js';
import type { RunInput } from '../../graph/variable.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

function valuesOf(input: RunInput, content = ''): VariableValues {
  return { input, results: new Map([['n', { content }]]) };
}

function assertQuick(work: () => unknown, limitMs = 2000): void {
  const tookMs = cpuMilliseconds(work);
  assert.ok(tookMs < limitMs, `${tookMs} ms`);
}

const pieces = [
  '{{',
  '}}',
  '{',
  '}',
  ' ',
  'input',
  '.',
  '[',
  ']',
  '0',
  'n',
  '.result',
  '.content',
  '"',
  'a',
  '\n',
  '__proto__',
];
const template = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 30 })
  .map((all) => all.join(''));

describe('findVariables', () => {
  it('finds every variable of a value at any depth, but none in keys', () => {
    const value = {
      a: ['{{ input.x[0].y }} {{ n.result }}', { b: '{{n.result.json.k}}', '{{ input.key }}': 1 }],
      c: 5,
    };
    assert.deepEqual(findVariables(value), [
      { source: 'input', path: ['x', 0, 'y'] },
      { source: 'node', nodeId: 'n', path: [] },
      { source: 'node', nodeId: 'n', path: ['json', 'k'] },
    ]);
  });

  it('leaves out what is no variable', () => {
    assert.deepEqual(findVariables(['{{ foo }}', '{{ }}', '{{ input', null, 5]), []);
  });
});

describe('rendering: properties', () => {
  it('never throws, whatever the template and the values', () => {
    fc.assert(
      fc.property(template, fc.jsonValue(), fc.string(), (text, value, content) => {
        const values = valuesOf({ a: value, n: value }, content);
        assert.equal(typeof renderText(text, values), 'string');
        renderJson({ text, value: [value, text] }, values);
        findVariables(text);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves a text without complete braces as it is', () => {
    fc.assert(
      fc.property(template, (text) => {
        const open = text.replaceAll('}}', '');
        if (!open.includes('}}')) assert.equal(renderText(open, valuesOf({ a: 'X' })), open);
      }),
    );
  });

  it('never renders what it filled in', () => {
    fc.assert(
      fc.property(template, template, template, (before, value, after) => {
        const [left, right] = [before.replaceAll(/[{}]/g, ''), after.replaceAll(/[{}]/g, '')];
        const values = valuesOf({ a: value }, value);
        assert.equal(renderText(`${left}{{ input.a }}${right}`, values), left + value + right);
        assert.equal(renderText(`${left}{{ n.result.content }}${right}`, values), left + value + right);
        assert.equal(renderJson('{{ input.a }}', values), value);
      }),
    );
  });

  it('gives back any JSON value that a string names exactly', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        assert.deepEqual(renderJson(['{{ input.a }}'], valuesOf({ a: plain })), [plain]);
      }),
    );
  });

  it('copies a value without variables', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
        const value: unknown = JSON.parse(json);
        if (!json.includes('}}')) assert.equal(JSON.stringify(renderJson(value, valuesOf({}))), JSON.stringify(value));
      }),
    );
  });
});

describe('rendering: size', () => {
  const MEGABYTES_10 = 10_000_000;

  it('takes linear time on hostile braces', () => {
    for (const piece of [
      '{',
      '}',
      '{{',
      '}}',
      '{{ ',
      '{{}}',
      '}}{{',
      '{{ input.',
      '{{ a.result.',
      '{{ a.result[0]]}}',
      ' ',
    ]) {
      const text = piece.repeat(MEGABYTES_10 / piece.length);
      assertQuick(() => renderText(text, valuesOf({})), 10_000);
    }
    assertQuick(() => renderText(`{{ ${'input.'.repeat(MEGABYTES_10 / 6)} }}`, valuesOf({})));
    assertQuick(() => renderText(`{{ input.a${' '.repeat(MEGABYTES_10)}}}`, valuesOf({})));
  });

  it('reads one large content for many variables once', () => {
    const content = JSON.stringify({ a: 'x', filler: 'y'.repeat(5_000_000) });
    const text = '{{ n.result.a }}'.repeat(10_000);
    assertQuick(() => assert.equal(renderText(text, valuesOf({}, content)).length, 10_000));
  });

  it('fills in 5 MB', () => {
    const content = 'z'.repeat(5_000_000);
    assertQuick(() => assert.equal(renderText('<{{ n.result.content }}>', valuesOf({}, content)), `<${content}>`));
  });

  it('refuses to render more than its bound, as text and as values', () => {
    const values = valuesOf({ list: Array(100_000).fill('0123456789') }, 'z'.repeat(5_000_000));
    const many = Math.ceil((32 * 1024 * 1024) / 1_000_000) + 1;
    assert.throws(() => renderText('{{ n.result.content }}'.repeat(many), values), RenderedTooLargeError);
    assert.throws(() => renderText('{{ input.list }}'.repeat(many), values), RenderedTooLargeError);
    assert.throws(() => renderJson(Array(many).fill('{{ input.list }}'), values), RenderedTooLargeError);
  });

  it('survives nesting of any depth in the template, the input and a content', () => {
    const json = '['.repeat(500_000) + ']'.repeat(500_000);
    const values = valuesOf({ deep: JSON.parse(json) as unknown }, json);
    // A recursive `JSON.stringify` cannot write this value, and the text stays empty. Newer engines write the value.
    for (const [variable, written] of [
      ['input.deep', json],
      ['n.result[0]', json.slice(1, -1)],
    ]) {
      const text = renderText(`<{{ ${variable} }}>`, values);
      assert.ok(text === '<>' || text === `<${written}>`, variable);
    }
    const value = renderJson('{{ input.deep }}', values);
    assert.ok(value === '' || Array.isArray(value));
    assert.ok(Array.isArray(renderJson(JSON.parse(json), values)));
    assert.deepEqual(findVariables(JSON.parse(json)), []);
  });
});
