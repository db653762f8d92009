// No difference from n8n is silent: a node that behaves differently has a warning.
import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import type { JsonObject } from '../../graph/json.js';
import { translateN8n } from '../../n8n/translate-n8n.js';

interface Step {
  type: string;
  version?: number;
  parameters?: JsonObject;
}

const SEVERAL = 'n8n may put out several items here';
const EACH_UNKNOWN = 'n8n does this for each item that comes in';
const EACH_OF_LIST = 'n8n does this for each of several items';

const manual: Step = { type: 'n8n-nodes-base.manualTrigger' };
const code = (jsCode: string, more: JsonObject = {}): Step => ({
  type: 'n8n-nodes-base.code',
  version: 2,
  parameters: { jsCode, ...more },
});
const asks = (operator: JsonObject, rightValue: unknown = 'x'): JsonObject => ({
  conditions: { conditions: [{ leftValue: '={{ $json.a }}', rightValue, operator }] },
});
const filter = (parameters = asks({ type: 'string', operation: 'equals' })): Step => ({
  type: 'n8n-nodes-base.filter',
  version: 2,
  parameters,
});
const set = (type: string, value: unknown): Step => ({
  type: 'n8n-nodes-base.set',
  version: 3.4,
  parameters: { assignments: { assignments: [{ name: 'field', type, value }] } },
});
const splitOut = (parameters: JsonObject): Step => ({ type: 'n8n-nodes-base.splitOut', parameters });

/** Translates the steps as a chain, named A, B, C and so on. */
function translate(steps: readonly Step[], pinData: JsonObject = {}) {
  const name = (index: number): string => String.fromCodePoint(65 + index);
  const nodes = steps.map(({ type, version = 1, parameters = {} }, index) => ({
    id: `node-${name(index)}`,
    name: name(index),
    type,
    typeVersion: version,
    position: [index * 200, 0],
    parameters,
  }));
  const connections = Object.fromEntries(
    steps.slice(1).map((_, index) => [name(index), { main: [[{ node: name(index + 1), type: 'main', index: 0 }]] }]),
  );
  return translateN8n({ nodes, connections, pinData });
}

function warningsOf(steps: readonly Step[], pinData?: JsonObject): string[] {
  return translate(steps, pinData).warnings.map(({ node, message }) => `${node}: ${message}`);
}

describe('differences from n8n', () => {
  it('are none in a chain of single items', () => {
    assert.deepEqual(warningsOf([manual, set('number', 1), filter()]), []);
  });

  for (const [title, step] of [
    ['a filter', filter()],
    ['an if', { ...filter(), type: 'n8n-nodes-base.if' }],
    ['a set', set('string', 'x')],
    [
      'a switch',
      { type: 'n8n-nodes-base.switch', version: 3, parameters: { rules: { values: [filter().parameters!] } } },
    ],
    ['a request', { type: 'n8n-nodes-base.httpRequest', version: 4, parameters: { url: 'https://example.com' } }],
  ] as const) {
    it(`are reported for ${title} that may get several items, and for what may put them out`, () => {
      const [source, ...others] = warningsOf([manual, code('return items;'), step]);
      assert.ok(source?.startsWith(`B: ${SEVERAL}`), source);
      assert.ok(
        others.some((warning) => warning.startsWith(`C: ${EACH_UNKNOWN}`)),
        others.join('\n'),
      );
    });
  }

  it('are reported where a list is certain', () => {
    const steps = [manual, splitOut({ fieldToSplitOut: 'a' }), filter(), code('return items;')];
    const warnings = warningsOf(steps);
    assert.ok(warnings.includes(`C: ${EACH_OF_LIST}. Here it is done once, for the whole list.`), warnings.join('\n'));
  });

  it('are reported where several items were pinned to the trigger', () => {
    assert.deepEqual(warningsOf([manual, filter()], { A: [{ json: {} }] }), []);
    const [warning] = warningsOf([manual, filter()], { A: [{ json: {} }, { json: {} }] });
    assert.ok(warning?.startsWith(`B: ${EACH_UNKNOWN}`), warning);
  });

  it('are reported for types that n8n converts to, and for literals that are not of theirs', () => {
    assert.deepEqual(warningsOf([manual, set('number', '={{ $json.a }}')]), [
      'B: n8n converts values to the types of their fields. Here these keep the types that they have: field (number).',
    ]);
    assert.deepEqual(warningsOf([manual, set('boolean', 'often')]), [
      'B: fields.field: its value is no boolean and was kept as text.',
    ]);
    assert.deepEqual(warningsOf([manual, set('boolean', 'TRUE')]), []);
  });

  it('are reported for texts that look like numbers, and for what exists', () => {
    const [numeric] = warningsOf([manual, filter(asks({ type: 'string', operation: 'equals' }, '1'))]);
    assert.match(numeric ?? '', /n8n compares texts/);
    const [existing] = warningsOf([manual, filter(asks({ type: 'string', operation: 'exists' }, ''))]);
    assert.match(existing ?? '', /an empty text exists/);
  });

  it('keep null, which n8n does not convert', () => {
    const { drawing } = translate([manual, set('string', null)]);
    const [, made] = drawing['nodes'] as { data: JsonObject }[];
    assert.deepEqual(made?.data['value'], { field: null });
  });
});

describe('Split Out of n8n', () => {
  /** Runs the code of the translated node as the sandbox does. */
  function split(parameters: JsonObject, json: unknown): unknown {
    const { drawing } = translate([manual, splitOut(parameters)]);
    const [, made] = drawing['nodes'] as { data: { code: string; inputs: JsonObject } }[];
    const inputs = JSON.stringify({ ...made!.data.inputs, json });
    const answer = runInNewContext(`JSON.stringify(((inputs) => {${made!.data.code}})(${inputs}))`) as string;
    return JSON.parse(answer);
  }

  it('puts elements that are no objects into a field of the whole name', () => {
    assert.deepEqual(split({ fieldToSplitOut: 'a.b' }, { a: { b: [1, 'x'] } }), [{ 'a.b': 1 }, { 'a.b': 'x' }]);
  });

  it('makes items of elements that are objects, unless a field is named for them', () => {
    const json = { a: [{ x: 1 }, { x: 2 }] };
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, json), [{ x: 1 }, { x: 2 }]);
    const named = { fieldToSplitOut: 'a', options: { destinationFieldName: 'one' } };
    assert.deepEqual(split(named, json), [{ one: { x: 1 } }, { one: { x: 2 } }]);
  });

  it('takes the values of an object, one value as a list of one, and nothing where there is none', () => {
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, { a: { x: { n: 1 }, y: 2 } }), [{ n: 1 }, { a: 2 }]);
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, { a: 5 }), [{ a: 5 }]);
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, {}), []);
  });

  it('splits each of several items, and reads a name with dots as it stands where that is asked for', () => {
    assert.deepEqual(split({ fieldToSplitOut: 'a' }, [{ a: [1] }, { a: [2, 3] }]), [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const plain = { fieldToSplitOut: 'a.b', options: { disableDotNotation: true } };
    assert.deepEqual(split(plain, { 'a.b': [1] }), [{ 'a.b': 1 }]);
  });
});
