import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ExactNumber } from '../../graph/exact-number.js';
import { completeInput, inputFieldsOf, parseApiKeyInput, parseSessionInput } from '../../graph/input.js';
import { drawing, http, trigger } from './drawings.js';

describe('inputFieldsOf', () => {
  it('gives the fields of the start node', () => {
    const nodes = [trigger('other', [], [{ id: 'y' }]), trigger('t', [], [{ id: 'x' }])];
    assert.deepEqual(inputFieldsOf({ nodes, start_node: 't' }), [{ id: 'x' }]);
  });

  it('gives those of the first trigger where there is no start', () => {
    assert.deepEqual(inputFieldsOf({ nodes: [http('h'), trigger('t', [], [{ id: 'x' }])] }), [{ id: 'x' }]);
  });

  it('is empty for whatever has none', () => {
    const deep = {
      nodes: [{ id: 't', type: 'trigger-node', data: { input_fields: [null, 'x', ['y']] } }],
      start_node: 't',
    };
    for (const data of [null, [], {}, { nodes: {} }, { nodes: [null] }, drawing([http('h')]), deep]) {
      assert.deepEqual(inputFieldsOf(data), []);
    }
    fc.assert(fc.property(fc.jsonValue(), (data) => Array.isArray(inputFieldsOf(data))));
  });
});

describe('completeInput', () => {
  const required = { id: 'r', input_requirements: true };

  it('fills defaults in where the input has no value', () => {
    const fields = ['a', 'b', 'c', 'd'].map((id) => ({ id, default_value: `default ${id}` }));
    const { input, errors } = completeInput(fields, { b: null, c: '', d: 0 });
    assert.deepEqual(input, { a: 'default a', b: 'default b', c: '', d: 0 });
    assert.deepEqual(errors, []);
  });

  it('does not fill in an empty default, nor change what it was given', () => {
    const given = Object.freeze({ x: 1 });
    const fields = [{ id: 'a', default_value: '' }, { id: 'b', default_value: null }, { id: 'c' }];
    assert.deepEqual(completeInput(fields, given).input, { x: 1 });
  });

  const options = [{ value: 'a' }, { value: 'b', is_default: true }, { value: 'c', is_default: true }];

  it('the first option with is_default fills in where the field has no default and the input no value', () => {
    const fields = ['a', 'b', 'c'].map((id) => ({ id, type: 'select', options }));
    assert.deepEqual(completeInput(fields, { b: 'a', c: '' }).input, { a: 'b', b: 'a', c: '' });
    const demanded = { ...required, default_value: '', options };
    assert.deepEqual(completeInput([demanded], {}), { input: { r: 'b' }, errors: [] });
    assert.deepEqual(completeInput([{ id: 'd', default_value: 'own', options }], {}).input, { d: 'own' });
  });

  it('options fill nothing in where none is the default, or the default has no value', () => {
    for (const given of [[], [{ value: 'a' }], [{ is_default: true }], [null, 'x'], { is_default: true }, null]) {
      assert.deepEqual(completeInput([{ id: 'a', options: given }], {}).input, {});
    }
  });

  for (const [title, value] of Object.entries({ absent: undefined, null: null, empty: '' })) {
    it(`a required field that is ${title} is an error`, () => {
      const input = value === undefined ? {} : { r: value };
      assert.deepEqual(completeInput([required], input).errors, [{ r: 'Field required' }]);
    });
  }

  it('a required field with false, zero or a default is none', () => {
    for (const r of [false, 0, [], {}]) assert.deepEqual(completeInput([required], { r }).errors, []);
    assert.deepEqual(completeInput([{ ...required, default_value: 'x' }], {}), { input: { r: 'x' }, errors: [] });
  });

  it('all missing fields are named at once', () => {
    const fields = [required, { ...required, id: 's' }, { ...required, id: '__proto__' }];
    assert.deepEqual(
      completeInput(fields, {}).errors.map((error) => Object.keys(error)),
      [['r'], ['s'], ['__proto__']],
    );
  });

  const size = { type: 'select', options: [{ value: 'S' }, { value: 5 }, { title: 'no value' }] };
  const judged: [field: object, right: unknown[], wrong: unknown[], message: string][] = [
    [
      { type: 'number' },
      [0, -1.5, '12', ' 1e3 ', '12345678901234567890', new ExactNumber('12345678901234567890')],
      ['many', '1,5', '0x10', 'NaN', true, [1], { n: 1 }],
      'Input should be a valid number',
    ],
    [{ type: 'boolean' }, [true, false, 'true', 'false'], ['yes', 1, 0, []], 'Input should be a valid boolean'],
    [{ type: 'checkbox' }, [false], ['on'], 'Input should be a valid boolean'],
    [size, ['S', 5, '5'], ['M', 'undefined', ['S'], { value: 'S' }, 6], "Input should be 'S', '5'"],
    [{ type: 'select', options: [{ value: '********' }] }, ['anything'], [], ''],
    [{ type: 'select' }, ['anything'], [], ''],
    [{ type: 'text' }, ['a', 5, { a: 1 }], [], ''],
    [{}, [true], [], ''],
  ];
  for (const [field, right, wrong, message] of judged) {
    it(`a value is judged by the type of its field, ${JSON.stringify(field)}, unless it is empty or a default`, () => {
      const fields = [{ id: 'a', default_value: 'whatever', ...field }];
      const errorsOf = (a: unknown) => completeInput(fields, { a, other: 'stays' }).errors;
      for (const value of [...right, '', null, undefined]) assert.deepEqual(errorsOf(value), [], String(value));
      for (const value of wrong) assert.deepEqual(errorsOf(value), [{ a: message }], String(value));
      assert.deepEqual(completeInput(fields, { a: '', other: 'stays' }).input, { a: '', other: 'stays' });
    });
  }

  it('a list has no fields to fill', () => {
    const { input, errors } = completeInput([required, { id: 'a', default_value: 'x' }], [1, 2]);
    assert.deepEqual(input, [1, 2]);
    assert.deepEqual(errors, [{ r: 'Field required' }]);
  });

  it('a field called __proto__ is filled like any other', () => {
    const { input } = completeInput([{ id: '__proto__', default_value: 'x' }], {});
    assert.equal(JSON.stringify(input), '{"__proto__":"x"}');
  });

  it('more secret characters than a run can look for are refused', () => {
    const fields = ['a', 'b'].map((id) => ({ id, is_secret: true }));
    const [most, rest] = ['x'.repeat(65_000), 'y'.repeat(1000)];
    const message = 'Secret fields should have at most 65536 characters in total';
    assert.deepEqual(completeInput(fields, { a: most }).errors, []);
    assert.deepEqual(completeInput(fields, { a: most, b: [rest] }).errors, [{ b: message }]);
    assert.deepEqual(completeInput([{ id: 'a' }], { a: most + rest }).errors, [], 'others may be as large as the body');
  });
});

describe('parseApiKeyInput', () => {
  const rows: [text: string, input: unknown][] = [
    ['{"a": 1}', { a: 1 }],
    ['[1, 2]', [1, 2]],
    ['', {}],
    [' \n', {}],
    ['null', {}],
    ['"text"', { __raw_input__: 'text' }],
    ['""', { __raw_input__: '' }],
    ['5', { __raw_input__: '5' }],
    ['1.50', { __raw_input__: '1.50' }],
    ['true', { __raw_input__: 'true' }],
    ['plain text\n', { __raw_input__: 'plain text\n' }],
    ['{"a": ', { __raw_input__: '{"a": ' }],
    ["{'a': 1}", { __raw_input__: "{'a': 1}" }],
    ['{{ input.x }}', { __raw_input__: '{{ input.x }}' }],
  ];
  for (const [text, input] of rows) {
    it(`${JSON.stringify(text)} is ${JSON.stringify(input)}`, () => assert.deepEqual(parseApiKeyInput(text), input));
  }
});

describe('parseSessionInput', () => {
  const rows: [inputData: unknown, input: unknown][] = [
    [undefined, {}],
    [null, {}],
    [{ a: 1 }, { a: 1 }],
    [[1], [1]],
    ['{"a": 1}', { __raw_input__: '{"a": 1}' }],
    ['', { __raw_input__: '' }],
    [5, { __raw_input__: '5' }],
    [false, { __raw_input__: 'false' }],
  ];
  for (const [inputData, input] of rows) {
    it(`${JSON.stringify([inputData])} as input_data is ${JSON.stringify(input)}`, () => {
      assert.deepEqual(parseSessionInput(inputData), input);
    });
  }
});
