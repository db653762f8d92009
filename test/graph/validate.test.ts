import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compilePlan } from '../../graph/compile-plan.js';
import { validateNodes, type NodeErrors } from '../../graph/validate.js';
import { condition, drawing, http, llm, trigger } from './drawings.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

const OPERATOR_MESSAGE =
  "Input should be '==', '!=', '>', '<', '>=', '<=', 'contains', 'not_contains', 'starts_with', 'ends_with', " +
  "'matches', 'in', 'is_empty' or 'is_not_empty'";

function errorsOf(data: unknown): NodeErrors {
  const compiled = compilePlan(data);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return validateNodes(compiled.document, compiled.plan);
}

/** The errors of one node that follows the start. */
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
        { 'condition.operator': OPERATOR_MESSAGE },
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
    ['if-else-node', { condition: { left: '', operator: 'contains' } }, 'condition.right', 'Field required'],
    [
      'if-else-node',
      { condition: { left: '', operator: 'matches', right: 'a(' } },
      'condition.right',
      'Input should be a valid RE2 pattern: missing closing ): `a(`',
    ],
    [
      'if-else-node',
      { condition: { left: '', operator: 'matches', right: '(?:ab){1000}c{1000}' } },
      'condition.right',
      'Input should be a valid RE2 pattern: its repetitions make it too large',
    ],
    [
      'if-else-node',
      { condition: { left: '', operator: 'matches', right: 'a'.repeat(1_001) } },
      'condition.right',
      'Input should be a valid RE2 pattern: it has more than 1000 characters',
    ],
    ['set-node', {}, 'value', 'Field required'],
    ['output-node', {}, 'value', 'Field required'],
    ...(
      [
        [7, '', 'Input should be a valid dictionary'],
        ['json', '', 'Input should be a valid dictionary'],
        [{}, '.type', 'Field required'],
        [{ type: 'xml' }, '.type', "Input should be 'json_schema', 'json_object' or 'text'"],
        [{ type: 'json_schema' }, '.json_schema', 'Field required'],
        [
          { type: 'json_schema', json_schema: { name: 'a b', schema: {} } },
          '.json_schema.name',
          "Name should have 1 to 64 letters, digits, '_' or '-'",
        ],
        [{ type: 'json_schema', json_schema: { name: 'a' } }, '.json_schema.schema', 'Field required'],
        [
          { type: 'json_schema', json_schema: { name: 'a', schema: [] } },
          '.json_schema.schema',
          'Input should be a valid dictionary',
        ],
        [
          { type: 'json_schema', json_schema: { name: 'a', schema: {}, strict: 'yes' } },
          '.json_schema.strict',
          'Input should be a valid boolean',
        ],
        [
          { type: 'json_schema', json_schema: { name: 'a', schema: { properties: { a: { type: 'text' } } } } },
          '.json_schema.schema',
          'Input should be a valid JSON Schema: /properties/a/type must be equal to one of the allowed values',
        ],
        [
          { type: 'json_schema', json_schema: { name: 'a', schema: { $ref: 'https://schemas.test/a' } } },
          '.json_schema.schema',
          "References in a JSON Schema should begin with '#'",
        ],
        [
          { type: 'json_schema', json_schema: { name: 'a', schema: { description: 'x'.repeat(65_536) } } },
          '.json_schema.schema',
          'JSON Schema should have at most 65536 characters',
        ],
      ] as const
    ).map(([format, path, message]): (typeof rows)[number] => [
      'basic-node',
      { messages, settings: { ...settings, response_format: format } },
      `settings.response_format${path}`,
      message,
    ]),
    ['trigger-node', { input_fields: {} }, 'input_fields', 'Input should be a valid list'],
    ['trigger-node', { input_fields: [{ id: 'a' }, { id: 'a' }] }, 'input_fields.1.id', 'Field id should be unique'],
    [
      'agent-node',
      { messages, settings, tools: [{ type: 'mcp', server_label: 'service:shop', endpoint_url: 'https://mcp.test/' }] },
      'tools.0.server_label',
      'Server label should not begin with "service:"',
    ],
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
    ['a condition of one side', 'if-else-node', { condition: { left: '', operator: 'is_empty' } }],
    ['a valid pattern', 'if-else-node', { condition: { left: '', operator: 'matches', right: '^a+$' } }],
    [
      'a pattern with a variable, whatever stands around it',
      'if-else-node',
      { condition: { left: '', operator: 'matches', right: '({{ input.a }}' } },
    ],
    ['any JSON as a value', 'set-node', { value: null }],
    ['a value of many parts', 'output-node', { value: Array.from({ length: 30_000 }, () => 0) }],
    ...[
      null,
      '{{ input.format }}',
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' }, strict: true } },
      { type: 'json_schema', json_schema: { name: 'a', schema: { type: '{{ input.type }}' } } },
      {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { $schema: 'http://json-schema.org/draft-07/schema#', items: [{}] } },
      },
    ].map((format): [string, string, Record<string, unknown>] => [
      `the response_format ${JSON.stringify(format)}`,
      'basic-node',
      { messages, settings: { ...settings, response_format: format } },
    ]),
  ];
  for (const [title, type, data] of accepted) {
    it(`takes ${title}`, () => assert.deepEqual(errorsIn(type, data), []));
  }

  it('never throws, whatever the data of the nodes', () => {
    const types = fc.constantFrom('trigger-node', 'if-else-node', 'basic-node', 'http-node', 'set-node', 'output-node');
    const fields = fc.constantFrom(
      'input_fields',
      'messages',
      'settings',
      'condition',
      'url',
      'headers',
      'body',
      'method',
      'value',
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
