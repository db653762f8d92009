import assert from 'node:assert/strict';
import type { ActionFacts } from '../../../graph/actions/action.js';
import { valueErrors } from '../../../graph/actions/check-values.js';
import type { JsonObject } from '../../../graph/json.js';

function facts(properties: Record<string, JsonObject>, required: string[] = []): ActionFacts {
  return {
    title: '',
    method: 'GET',
    server: 'https://example.com',
    path: '/',
    has_side_effects: false,
    fields: { type: 'object', properties, required },
  };
}

function errorOf(schema: JsonObject, value: unknown): string | undefined {
  return valueErrors(facts({ a: { 'x-in': 'query', ...schema } }), { a: value })['a'];
}

describe('the values of an action', () => {
  it('names unknown fields and missing required ones; a literal "" or null is missing', () => {
    const of = facts({ a: { 'x-in': 'query' }, b: { 'x-in': 'query' }, c: { 'x-in': 'query' } }, ['a', 'b', 'c']);
    assert.deepEqual(valueErrors(of, { a: '', b: null, d: 1 }), {
      a: 'Field required',
      b: 'Field required',
      c: 'Field required',
      d: 'Extra inputs are not permitted',
    });
    assert.deepEqual(valueErrors(of, { a: '{{ x.result.content }}', b: 0, c: false }), {});
  });

  it('refuses literals of the wrong type, at any depth', () => {
    assert.equal(errorOf({ type: 'integer' }, '5'), 'Input should be a valid integer');
    assert.equal(errorOf({ type: 'integer' }, 5.5), 'Input should be a valid integer');
    assert.equal(errorOf({ type: 'string' }, 5), 'Input should be a valid string');
    assert.equal(
      errorOf({ type: 'array', items: { type: 'string' } }, ['a', 1]),
      'Input should be a valid string at 1',
    );
    assert.equal(errorOf({ type: 'object' }, []), 'Input should be a valid dictionary');
    assert.equal(
      errorOf({ type: 'object', properties: { k: { type: 'array', items: { type: 'boolean' } } } }, { k: [true, 'x'] }),
      'Input should be a valid boolean at k.1',
    );
    assert.equal(errorOf({ anyOf: [{ type: 'string' }, { type: 'integer' }] }, true), 'Input should be a valid string');
    assert.equal(errorOf({ allOf: [{ type: 'object' }, {}] }, 'x'), 'Input should be a valid dictionary');
  });

  it('takes what fits, variables, optional empty values, files for bytes, and schemas without types', () => {
    const taken: [JsonObject, unknown][] = [
      [{ type: 'integer' }, '{{ start.n }}'],
      [{ type: 'number' }, 1.5],
      [{ type: ['string', 'null'] }, 'x'],
      [{ type: 'string', nullable: true }, null],
      [{ type: 'integer' }, ''],
      [{ type: 'integer' }, null],
      [{}, { any: ['thing'] }],
      [{ type: 'wrong' }, 1],
      [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 4],
      [{ type: 'string', format: 'binary' }, { file_id: '3f0a4b0e-1111-4222-8333-123456789abc' }],
      [{ type: 'array', items: { type: 'integer' } }, ['{{ a.result.json.n }}', 2]],
    ];
    for (const [schema, value] of taken)
      assert.equal(errorOf(schema, value), undefined, JSON.stringify([schema, value]));
  });

  it('ends soon for schemas and values that multiply each other', () => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < 20; level += 1) schema = { anyOf: [schema, schema, schema] };
    const value = Array.from({ length: 100_000 }, () => 1);
    const before = process.cpuUsage().user;
    errorOf({ type: 'array', items: schema }, value);
    // Nothing is said of the items, so nothing is done for each of them.
    const wide = { anyOf: Array.from({ length: 50 }, () => ({ anyOf: Array.from({ length: 30 }, () => ({})) })) };
    errorOf(wide, Array<number>(1_000_000).fill(0));
    const described = { anyOf: Array.from({ length: 1_500 }, () => ({ properties: { k: { type: 'string' } } })) };
    errorOf(described, Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1])));
    assert.ok(process.cpuUsage(undefined).user - before < 5_000_000);
  });
});
