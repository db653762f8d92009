import assert from 'node:assert/strict';
import { renderData, templatesOf } from '../../graph/rendered-data.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import type { NodeDefinition } from '../../graph/nodes/node-definition.js';
import { RenderedTooLargeError, type VariableValues } from '../../graph/template.js';

const values: VariableValues = {
  input: { name: 'Ada', list: [1, 2], braces: '{{ input.name }}' },
  results: new Map([['before', { content: '{"a": 1}', n: 7 }]]),
  leftOut: new Map([['huge', '[not shown]']]),
};
const render = (kind: Parameters<typeof renderData>[0], data: Record<string, unknown>, max = 1_000) =>
  renderData(kind, data, values, max);

describe('the data of a node with its variables filled in', () => {
  it('keeps text as text, and the type of a variable where any JSON is taken', () => {
    const data = {
      url: 'http://x/{{ input.list }}',
      method: '{{ input.name }}',
      headers: { A: '{{ before.result.n }}', B: 5 },
      body: { all: '{{ input.list }}', n: '{{ before.result.a }}' },
      label: 'as {{ input.name }} drew it',
    };
    assert.deepEqual(render('http', data), {
      url: 'http://x/[1,2]',
      method: 'Ada',
      headers: { A: '7', B: 5 },
      body: { all: [1, 2], n: 1 },
      label: 'as {{ input.name }} drew it',
    });
    assert.equal(data.url, 'http://x/{{ input.list }}', 'the drawing stays as it is');
  });

  it('fills in what the kind fills in, and nothing beside it', () => {
    const messages = [{ role: '{{ input.name }}', message: 'Hi {{ input.name }}' }];
    const tools = [{ server_label: '{{ input.name }}', headers: { k: '{{ input.name }}' } }, { server_label: 'b' }];
    const settings = { model_name: '{{ input.name }}', stop: '{{ input.list }}' };
    assert.deepEqual(render('agent', { messages, tools, settings }), {
      messages: [{ role: '{{ input.name }}', message: 'Hi Ada' }],
      tools: [{ server_label: '{{ input.name }}', headers: { k: 'Ada' } }, { server_label: 'b' }],
      settings: { model_name: 'Ada', stop: [1, 2] },
    });
    const condition = { left: '{{ input.list }}', operator: '==', right: 3 };
    assert.deepEqual(render('condition', { condition }), { condition: { ...condition, left: '[1,2]' } });
    assert.deepEqual(render('trigger', { input_fields: [{ id: '{{ input.name }}' }] }), {
      input_fields: [{ id: '{{ input.name }}' }],
    });
  });

  it('never fills in what a value brings along', () => {
    assert.deepEqual(render('http', { url: '{{ input.braces }}' }), { url: '{{ input.name }}' });
  });

  it('writes `[not shown]` for an output that is not shown and nothing for an unknown one, and leaves what is no variable as it is', () => {
    const body = ['{{ huge.result.content }}', '{{ huge.result.a.b }}', 'x{{ none.result.content }}', '{{ 1 }}'];
    assert.deepEqual(render('http', { body }), { body: ['[not shown]', '[not shown]', 'x', '{{ 1 }}'] });
  });

  it('takes data of any form: what is missing stays missing, and __proto__ is a key', () => {
    for (const data of [{}, { body: null }, { headers: 'text', url: 5 }, { headers: [], url: [] }]) {
      assert.deepEqual(render('http', data), data);
    }
    const data = JSON.parse('{"headers": {"__proto__": "{{ input.name }}"}}') as Record<string, unknown>;
    assert.equal(JSON.stringify(render('http', data)), '{"headers":{"__proto__":"Ada"}}');
  });

  it('stops at a limit over all places together', () => {
    const data = { url: '{{ input.name }}', headers: { a: '{{ input.name }}' } };
    assert.equal(render('http', data, 6)['url'], 'Ada');
    assert.throws(() => render('http', data, 5), RenderedTooLargeError);
  });

  it('of every kind, a field with variables has a place that is filled in, and the other way round', () => {
    for (const definition of Object.values<NodeDefinition>(nodeDefinitions)) {
      const { kind, templateFields, templatePlaces } = definition;
      if (templatePlaces === undefined) continue;
      const fields = new Set(Object.keys(templatePlaces).map((place) => place.split('.')[0]!));
      assert.deepEqual([...fields].toSorted(), [...templateFields].toSorted(), kind);
    }
  });

  it('returns the values of the parts in which variables are filled in, undefined for a missing part', () => {
    assert.deepEqual(templatesOf('llm', { messages: [{ role: 'a', message: 'b' }, 'c'], settings: { d: 1 }, x: 'y' }), [
      'b',
      undefined,
      undefined,
      undefined,
      { d: 1 },
    ]);
  });
});
