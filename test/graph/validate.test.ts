import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compilePlan } from '../../graph/compile-plan.js';
import { findWarnings, validateNodes, type NodeErrors, type Warning } from '../../graph/validate.js';
import { condition, drawing, edge, http, llm, trigger } from './drawings.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

function errorsOf(data: unknown): NodeErrors {
  const compiled = compilePlan(data);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return validateNodes(compiled.document, compiled.plan);
}

function warningsOf(data: unknown): Warning[] {
  const compiled = compilePlan(data);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return findWarnings(data, compiled.document, compiled.plan);
}

function codesOf(data: unknown): string[] {
  return warningsOf(data).map(({ node_id, code }) => `${node_id} ${code}`);
}

/** The errors of one node that stands behind the start. */
function errorsIn(type: string, data: Record<string, unknown>): Record<string, string>[] {
  return errorsOf(drawing([{ id: 'a', type, data }]))['a'] ?? [];
}

describe('validateNodes', () => {
  it('a valid drawing has no errors', () => {
    const nodes = [trigger('t', ['c']), condition('c', { true_node: 'h', false_node: 'l' }), http('h'), llm('l', 'Hi')];
    assert.deepEqual(errorsOf(drawing(nodes)), {});
  });

  it('names all errors of all reachable nodes at once, and none of the others', () => {
    const nodes = [
      trigger('t', ['l', 'h', 'c'], [{ id: '' }, { title: 5 }]),
      llm('l', ''),
      { id: 'h', type: 'http-node', data: {} },
      { id: 'c', type: 'if-else-node', data: { condition: { operator: '=' } } },
      llm('unreachable', ''),
    ];
    assert.deepEqual(errorsOf(drawing(nodes)), {
      t: [
        { 'input_fields.0.id': 'String should have at least 1 character' },
        { 'input_fields.1.id': 'Field required' },
        { 'input_fields.1.title': 'Input should be a valid string' },
      ],
      l: [{ 'messages.0.message': 'String should have at least 1 character' }],
      h: [{ url: 'Field required' }],
      c: [
        { 'condition.left': 'Field required' },
        { 'condition.operator': "Input should be '==', '!=', '>', '<', '>=' or '<='" },
        { 'condition.right': 'Field required' },
      ],
    });
  });

  it('a node without data lacks its required fields', () => {
    assert.deepEqual(errorsOf(drawing([{ id: 'a', type: 'basic-node' }])), {
      a: [{ messages: 'Field required' }, { settings: 'Field required' }],
    });
  });

  it('an id called __proto__ has its errors under that key', () => {
    const errors = errorsOf(drawing([llm('__proto__', '')]));
    assert.deepEqual(Object.entries(errors), [
      ['__proto__', [{ 'messages.0.message': 'String should have at least 1 character' }]],
    ]);
  });

  const http200 = { url: 'http://target.test/' };
  const messages = [{ role: 'user', message: 'Hi' }];
  const settings = { model_name: 'm' };
  const rows: [type: string, data: Record<string, unknown>, path: string, message: string][] = [
    ['basic-node', { messages: [], settings }, 'messages', 'List should have at least 1 item after validation, not 0'],
    ['basic-node', { messages: 'Hi', settings }, 'messages', 'Input should be a valid list'],
    ['basic-node', { messages: ['Hi'], settings }, 'messages.0', 'Input should be a valid dictionary'],
    ['basic-node', { messages: [{ message: 'Hi' }], settings }, 'messages.0.role', 'Field required'],
    ['basic-node', { messages, settings: {} }, 'settings.model_name', 'Field required'],
    [
      'basic-node',
      { messages, settings: { model_name: '' } },
      'settings.model_name',
      'String should have at least 1 character',
    ],
    [
      'basic-node',
      { messages, settings: { ...settings, temperature: 2.1 } },
      'settings.temperature',
      'Input should be less than or equal to 2',
    ],
    [
      'basic-node',
      { messages, settings: { ...settings, temperature: '1' } },
      'settings.temperature',
      'Input should be a valid number',
    ],
    [
      'basic-node',
      { messages, settings: { ...settings, max_tokens: 1.5 } },
      'settings.max_tokens',
      'Input should be a valid integer',
    ],
    [
      'basic-node',
      { messages, settings: { ...settings, timeout: 601 } },
      'settings.timeout',
      'Input should be less than or equal to 600',
    ],
    ['http-node', { url: '' }, 'url', 'String should have at least 1 character'],
    ['http-node', { url: 5 }, 'url', 'Input should be a valid string'],
    [
      'http-node',
      { ...http200, method: 'FETCH' },
      'method',
      "Input should be 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE' or 'OPTIONS'",
    ],
    ['http-node', { ...http200, headers: [] }, 'headers', 'Input should be a valid dictionary'],
    ['http-node', { ...http200, headers: { a: {} } }, 'headers.a', 'Input should be a valid string, number or boolean'],
    [
      'http-node',
      { ...http200, settings: { timeout: 0 } },
      'settings.timeout',
      'Input should be greater than or equal to 0.1',
    ],
    [
      'http-node',
      { ...http200, settings: { timeout: '{{ input.t }}' } },
      'settings.timeout',
      'Input should be a valid number',
    ],
    [
      'http-node',
      { ...http200, settings: { retry_unsafe: 1 } },
      'settings.retry_unsafe',
      'Input should be a valid boolean',
    ],
    ['if-else-node', {}, 'condition', 'Field required'],
    [
      'if-else-node',
      { condition: { left: [], operator: '<', right: '' } },
      'condition.left',
      'Input should be a valid string, number or boolean',
    ],
    ['trigger-node', { input_fields: {} }, 'input_fields', 'Input should be a valid list'],
    ['trigger-node', { input_fields: [{ id: 'a' }, { id: 'a' }] }, 'input_fields.1.id', 'Field id should be unique'],
    [
      'trigger-node',
      { input_fields: [{ id: 'a', is_secret: 'yes' }] },
      'input_fields.0.is_secret',
      'Input should be a valid boolean',
    ],
  ];
  for (const [type, data, path, message] of rows) {
    it(`${type} ${path}: ${message}`, () => assert.deepEqual(errorsIn(type, data), [{ [path]: message }]));
  }

  const accepted: [title: string, type: string, data: Record<string, unknown>][] = [
    ['unknown keys', 'http-node', { ...http200, position: 1, settings: { color: 'red' } }],
    ['a method in any case', 'http-node', { ...http200, method: 'post' }],
    [
      'variables in any string field',
      'http-node',
      { url: '{{ input.u }}', method: '{{ input.m }}', headers: { a: '{{ input.h }}' } },
    ],
    ['any JSON as a body', 'http-node', { ...http200, body: [null, { a: [1] }] }],
    ['numbers and booleans in headers', 'http-node', { ...http200, headers: { a: 1, b: true } }],
    ['numbers and booleans in a condition', 'if-else-node', { condition: { left: 1, operator: '<', right: true } }],
    ['empty sides of a condition', 'if-else-node', { condition: { left: '', operator: '==', right: '' } }],
    [
      'null for what a model setting leaves open',
      'basic-node',
      { messages, settings: { ...settings, temperature: null, seed: 7 } },
    ],
    ['a trigger without fields', 'trigger-node', { input_fields: null }],
  ];
  for (const [title, type, data] of accepted) {
    it(`takes ${title}`, () => assert.deepEqual(errorsIn(type, data), []));
  }

  it('never throws, whatever the data of the nodes', () => {
    const types = fc.constantFrom('trigger-node', 'if-else-node', 'basic-node', 'http-node');
    const fields = fc.constantFrom(
      'input_fields',
      'messages',
      'settings',
      'condition',
      'url',
      'headers',
      'body',
      'method',
    );
    fc.assert(
      fc.property(types, fc.dictionary(fields, fc.jsonValue()), (type, data) => void errorsIn(type, data)),
      { numRuns: 500 },
    );
  });

  it('a list of millions of mistakes costs one error', () => {
    const tookMs = cpuMilliseconds(() =>
      assert.deepEqual(errorsIn('basic-node', { messages: Array(3_000_000).fill(0), settings }), [
        { messages: 'Input should hold at most 20000 values' },
      ]),
    );
    assert.ok(tookMs < 5000, `${tookMs} ms`);
  });
});

describe('findWarnings', () => {
  it('a drawing that is in order has none', () => {
    const nodes = [
      trigger('t', ['a'], [{ id: 'x' }]),
      llm('a', '{{ input.x }} {{ t.result.x }}', ['b']),
      llm('b', '{{ a.result.content }}'),
    ];
    assert.deepEqual(warningsOf(drawing(nodes, [edge('t', 'a'), edge('a', 'b')])), []);
    assert.deepEqual(warningsOf(drawing(nodes, [])), [], 'without drawn edges there is nothing to disagree with');
  });

  it('links_disagree: own links and drawn edges that differ', () => {
    const nodes = [trigger('t', ['a']), http('a', ['b']), http('b', [])];
    assert.deepEqual(codesOf(drawing(nodes, [edge('t', 'a'), edge('a', 'b'), edge('b', 'gone')])), [
      'b links_disagree',
    ]);
    assert.deepEqual(codesOf(drawing(nodes, [edge('t', 'a')])), ['a links_disagree']);
  });

  it('links_disagree: a condition, branch by branch', () => {
    const nodes = [condition('c', { true_node: 'a', false_node: 'b' }), http('a'), http('b')];
    const right = [edge('c', 'a', 'condition-true'), edge('c', 'b', 'condition-false')];
    const crossed = [edge('c', 'b', 'condition-true'), edge('c', 'a', 'condition-false')];
    assert.deepEqual(codesOf(drawing(nodes, right)), []);
    assert.deepEqual(codesOf(drawing(nodes, crossed)), ['c links_disagree']);
    assert.deepEqual(
      codesOf(drawing(nodes, [...right, edge('c', 'a')])),
      ['c links_disagree'],
      'an edge without a handle',
    );
  });

  it('unreachable_node: a node that nothing links to', () => {
    assert.deepEqual(codesOf(drawing([http('a'), llm('b', '{{ foo }}')])), ['b unreachable_node']);
  });

  it('unknown_variable: each with its reason, once a node', () => {
    const text =
      '{{ foo }} {{ input.y }} {{ gone.result.content }} {{ b.result.content }} {{ a.result.content }} {{ foo }}';
    const nodes = [trigger('t', ['a'], [{ id: 'x' }]), llm('a', text, ['b']), http('b')];
    assert.deepEqual(
      warningsOf(drawing(nodes)).map(({ message }) => message),
      [
        'The variable {{ foo }} is not known: it is not a variable.',
        'The variable {{ input.y }} is not known: the trigger has no such input field.',
        'The variable {{ gone.result.content }} is not known: there is no such node.',
        'The variable {{ b.result.content }} is not known: that node does not run before this one.',
        'The variable {{ a.result.content }} is not known: that node does not run before this one.',
      ],
    );
  });

  it('unknown_variable: a node on a parallel branch, but not one before a join', () => {
    const nodes = [
      trigger('t', ['a', 'b']),
      llm('a', '{{ b.result.content }}', ['join']),
      llm('b', '{{ t.result.content }}', ['join']),
      llm('join', '{{ a.result.content }} {{ b.result.content }} {{ t.result.content }}'),
    ];
    assert.deepEqual(codesOf(drawing(nodes)), ['a unknown_variable']);
  });

  it('unknown_variable: looks only where variables are filled in', () => {
    const labelled = http('a', [], { label: '{{ foo }}', headers: { x: '{{ bar }}' }, body: { y: ['{{ baz }}'] } });
    assert.deepEqual(codesOf(drawing([labelled])), ['a unknown_variable', 'a unknown_variable']);
  });

  it('literal_variable: a known variable where none is filled in, once a node, and nothing that may be meant as it is', () => {
    const text =
      'f("{{ input.x }}", `${{ a: 1 }}`, {{}}, "{{ input.y }}", "{{ gone.result }}"); {{ t.result.x }} {{ input.x }}';
    const code = {
      id: 'c',
      type: 'code-node',
      data: { code: text, inputs: { x: '{{ input.x }}', y: '{{ input.y }}' } },
    };
    const found = warningsOf(drawing([trigger('t', ['c'], [{ id: 'x' }]), code]));
    assert.deepEqual(
      found.map((warning) => [warning.code, warning.message]),
      [
        ['unknown_variable', 'The variable {{ input.y }} is not known: the trigger has no such input field.'],
        ['literal_variable', 'The variable {{ input.x }} is not filled in in "code", where it is text.'],
        ['literal_variable', 'The variable {{ t.result.x }} is not filled in in "code", where it is text.'],
      ],
    );
  });

  it('a trigger without declared fields takes any input', () => {
    assert.deepEqual(
      codesOf(drawing([trigger('t', ['a']), llm('a', '{{ input.any.thing }} {{ input[0] }} {{ input }}')])),
      [],
    );
  });

  it('the raw input is always known', () => {
    const nodes = [trigger('t', ['a'], [{ id: 'x' }]), llm('a', '{{ input.__raw_input__ }}')];
    assert.deepEqual(codesOf(drawing(nodes)), []);
  });

  it('5,000 nodes that all name their predecessors take under a second', () => {
    const nodes = Array.from({ length: 5000 }, (_, index) =>
      llm(`n${index}`, `{{ n0.result.content }}`, index < 4999 ? [`n${index + 1}`] : []),
    );
    const tookMs = cpuMilliseconds(() => assert.deepEqual(codesOf(drawing(nodes)), ['n0 unknown_variable']));
    assert.ok(tookMs < 2000, `${tookMs} ms`);
  });

  it('bounds the warnings of a hostile drawing', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `{{ foo${index} }}`).join('');
    assert.equal(warningsOf(drawing([llm('a', text)])).length, 1000);
  });
});
