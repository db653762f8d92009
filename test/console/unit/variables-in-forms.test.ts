// The pure parts of forms: chips, suggestions, previews, layers, the query of an address and the type of a body.
import assert from 'node:assert/strict';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { chipOf, chipText } from '../../../console/drawing/chips.js';
import { byType, type Drawing, type NodeKind } from '../../../console/drawing/drawing.js';
import { variablesFor } from '../../../console/drawing/variables.js';
import type { JsonObject } from '../../../graph/json.js';
import { completionsFor, openVariable } from '../../../console/forms/completions.js';
import { isSet, layersOf, withoutOtherModes } from '../../../console/forms/layers.js';
import { propertiesOf } from '../../../console/forms/schema.js';
import { bodyTypeOf, toBodyType } from '../../../console/kinds/body.js';
import { queryRows, withQuery } from '../../../console/kinds/query.js';
import { previewOf } from '../../../console/pages/workflow/test-run/variable-values.js';

const kinds = byType(describeNodes() as unknown as NodeKind[]);

describe('chips', () => {
  const drawing = { nodes: [{ id: 'ask', type: 'basic-node', data: { label: 'Ask model' } }] };
  const label = (expression: string): string => chipText(chipOf(drawing, kinds, expression));

  it('name the node and the path', () => {
    assert.equal(label(' ask.result.content '), 'Ask model › content');
    assert.equal(label('ask.result.json.items[0]["a b"]'), 'Ask model › json.items[0]["a b"]');
    assert.equal(label('ask.result'), 'Ask model › result');
    assert.equal(label('ask.error.code'), 'Ask model › error.code');
    assert.equal(label('input.city'), 'Input › city');
    assert.equal(label('ask.item.name'), 'Ask model › item.name');
  });

  it('say why a variable reads nothing', () => {
    const reason = (expression: string, isChat = false): string | undefined =>
      chipOf(drawing, kinds, expression, isChat).reason;
    assert.equal(reason('gone.result.content'), 'nothing in this workflow has this name');
    assert.equal(reason('nonsense'), 'this is no variable');
    assert.equal(reason('ask.result.content'), undefined);
    assert.equal(reason('input.anything'), undefined, 'a start without fields takes any input');
    const task = { id: 'task', type: 'human-node', data: { fields: [{ id: 'size' }] } };
    const start = { id: 'start', type: 'trigger-node', data: { input_fields: [{ id: 'city' }] } };
    const declaring = { start_node: 'start', nodes: [start, task] };
    const why = (expression: string, isChat = false) => chipOf(declaring, kinds, expression, isChat).reason;
    assert.equal(why('input.city.name'), undefined);
    assert.equal(why('input.town'), 'the start has no such input field');
    assert.equal(why('input.message'), 'the start has no such input field');
    assert.equal(why('input.message', true), undefined);
    assert.equal(why('task.result.values.size'), undefined);
    assert.equal(why('task.result.values.weight'), 'its node has no such field');
    assert.equal(why('task.result.comment'), undefined);
  });

  it('never show the id that the service gave a node', () => {
    const id = '6f1b9c1e-0000-4000-8000-000000000001';
    assert.equal(label(`${id}.result.content`), 'Deleted node › content');
    assert.equal(label('gone.result.content'), 'gone › content');
  });

  it('are edited behind their node', () => {
    const edited = (expression: string): string | undefined => {
      const { head } = chipOf(drawing, kinds, expression);
      return head === undefined ? undefined : expression.slice(head);
    };
    assert.equal(edited(' ask.result.json.a '), '.json.a ');
    assert.equal(edited('input.city'), '.city');
    assert.equal(edited(' ask.error.code'), '.error.code');
    assert.equal(edited('ask.item.name'), '.item.name');
    assert.equal(edited('ask .result.a'), undefined, 'what is written in another way is edited whole');
    assert.equal(edited('nonsense'), undefined);
  });
});

describe('variables of a form', () => {
  it('hold the result of a start that is no trigger, and the input of one that is', () => {
    const drawn = (type: string, data: object = {}) => ({
      start_node: 'first',
      nodes: [
        { id: 'first', type, data: { label: 'First', next_nodes: ['second'], ...data } },
        { id: 'second', type: 'basic-node', data: {} },
      ],
    });
    const headings = (drawing: object): string[] =>
      variablesFor(drawing as Drawing, kinds, 'second').map(({ heading }) => heading);
    assert.deepEqual(headings(drawn('http-node')), ['First']);
    assert.deepEqual(headings(drawn('trigger-node', { input_fields: [{ id: 'city' }] })), ['Input of the run']);
  });
});

describe('suggestions for variables', () => {
  const groups = [
    { heading: 'Input of the run', choices: [{ label: 'City', text: '{{ input.city }}', value: 'Oslo' }] },
    { heading: 'Ask model', choices: [{ label: 'Content', text: '{{ ask.result.content }}' }] },
  ];

  it('are asked for between open braces alone, and take the closing ones with them', () => {
    assert.deepEqual(openVariable('a {{ ask', 8), { start: 2, end: 8, typed: 'ask' });
    assert.deepEqual(openVariable('{{ ask.res }} b', 6), { start: 0, end: 13, typed: 'ask' });
    assert.equal(openVariable('{{ ask }} b', 11), undefined);
    assert.equal(openVariable('no braces', 5), undefined);
    assert.equal(openVariable('{{ line\n', 8), undefined);
  });

  it('leave the braces of JSON around them alone', () => {
    const text = '{"a": {"b": "{{ "}}';
    assert.deepEqual(openVariable(text, 16), { start: 13, end: 16, typed: '' });
  });

  it('are filtered by node, name and source', () => {
    const found = (typed: string): string[] => completionsFor(groups, typed).map(({ apply }) => apply);
    assert.deepEqual(found(''), ['{{ input.city }}', '{{ ask.result.content }}']);
    assert.deepEqual(found('CITY'), ['{{ input.city }}']);
    assert.deepEqual(found('model con'), ['{{ ask.result.content }}']);
    assert.deepEqual(found('ask.res'), ['{{ ask.result.content }}']);
    assert.deepEqual(found('none'), []);
    assert.equal(completionsFor(groups, 'city')[0]!.detail, 'Oslo');
  });
});

describe('previews', () => {
  const values = { call: { result: { content: '{"n": 1}', json: { n: 1 } } }, input: { city: 'Oslo' } };
  const read = (path: readonly string[]): unknown =>
    path.reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], values);

  it('render as a run does, with fields of JSON content, structures and missing fields', () => {
    assert.equal(previewOf('In {{ input.city }}: {{ call.result.n }}', read), 'In Oslo: 1');
    assert.equal(previewOf('{{ call.result.json }}', read), '{"n":1}');
    assert.equal(previewOf({ a: '{{ call.result.json.n }}' }, read), '{"a":1}');
    assert.equal(previewOf('-{{ call.result.none }}-', read), '--');
  });

  it('stay away where no value is known, and show the rest where some is unknown', () => {
    assert.equal(previewOf('no variable', read), undefined);
    assert.equal(previewOf('{{ other.result.content }}', read), undefined);
    assert.equal(previewOf('{{ input.city }} {{ other.result.content }}', read), 'Oslo …');
  });

  it('are cut off, and hostile texts do not become large', () => {
    const large = (path: readonly string[]): unknown => (path[0] === 'input' ? { x: 'y'.repeat(100_000) } : undefined);
    assert.equal(previewOf('{{ input.x }}', large)!.length, 201);
    assert.equal(previewOf('{{ input.x }}'.repeat(1000), large), undefined);
  });
});

describe('layers of a form', () => {
  const layers = (type: string, data: JsonObject = {}): [string[], string[]] => {
    const schema = kinds.get(type)!.schema;
    const shown = withoutOtherModes(schema, data);
    const begun = new Set(Object.keys(data).filter((key) => isSet(schema, key, data)));
    const [first, more] = layersOf(shown, begun).map((part) => Object.keys(propertiesOf(part)));
    const own = (keys: string[]): string[] => keys.filter((key) => !['on_error', 'retry', 'join'].includes(key));
    return [own(first!), own(more!)];
  };

  it('show first what is required, what has no default, tables and what has a value', () => {
    assert.deepEqual(layers('code-node'), [['code', 'inputs'], ['settings']]);
    assert.deepEqual(layers('for-each-node'), [
      ['items', 'output'],
      ['concurrency', 'max_items', 'on_item_error'],
    ]);
    assert.deepEqual(layers('for-each-node', { items: [], concurrency: 5, max_items: 7 })[0], [
      'items',
      'max_items',
      'output',
    ]);
    assert.deepEqual(layers('code-node', { settings: {} })[1], ['settings']);
    assert.deepEqual(layers('code-node', { settings: { timeout: 9 } })[1], []);
  });

  it('show the fields of the chosen mode only', () => {
    assert.deepEqual(layers('wait-node'), [['mode', 'seconds'], []]);
    assert.deepEqual(layers('wait-node', { mode: 'callback' }), [['mode', 'timeout'], []]);
    assert.deepEqual(layers('wait-node', { mode: 'until', seconds: 3 }), [['mode', 'until'], []]);
  });
});

describe('the query of an address', () => {
  it('is read as names with values, variables whole', () => {
    const rows = queryRows('https://a.example/x?city=New+York&q={{ a.result["b&c=d?#"] }}&flag#part');
    assert.deepEqual(
      rows.map(({ name, value }) => [name, value]),
      [
        ['city', 'New York'],
        ['q', '{{ a.result["b&c=d?#"] }}'],
        ['flag', ''],
      ],
    );
    assert.deepEqual(queryRows('{{ input.url }}'), []);
    assert.deepEqual(queryRows('https://a.example/?x=%zz')[0]!.value, '%zz');
  });

  it('is written back to the byte where nothing has changed, and encoded where something has', () => {
    for (const address of [
      'https://a.example/x?a=1+2&b&c==%20#d?e',
      '{{ x }}?p={{ y }}',
      'u?a=1&&=2&',
      'https://a.example/',
    ]) {
      assert.equal(withQuery(address, queryRows(address)), address);
    }
    const rows = queryRows('https://a.example/?a=1%202#end');
    const more = [...rows, { name: 'b c', value: '{{ input.x }}&=' }, { name: '', value: 'nameless' }];
    assert.equal(
      withQuery('https://a.example/?a=1%202#end', more),
      'https://a.example/?a=1%202&b%20c={{ input.x }}%26%3D#end',
    );
    assert.equal(withQuery('https://a.example/?a=1', []), 'https://a.example/');
  });
});

describe('the type of a body', () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

  it('is what the service makes of it', () => {
    assert.equal(bodyTypeOf({}), 'none');
    assert.equal(bodyTypeOf({ body: null }), 'none');
    assert.equal(bodyTypeOf({ body: { a: 1 } }), 'json');
    assert.equal(bodyTypeOf({ body: '{{ a.result.json }}' }), 'json');
    assert.equal(bodyTypeOf({ body: 'Hello {{ input.name }}' }), 'text');
    assert.equal(bodyTypeOf({ body: { a: 1 }, headers: { 'content-TYPE': form['Content-Type'] } }), 'form');
  });

  it('changes with what can be kept, and with the header of a form', () => {
    const data = { url: 'u', headers: { accept: 'x' }, body: { a: 1 } };
    const asForm = toBodyType(data, 'form');
    assert.deepEqual(asForm, { url: 'u', headers: { accept: 'x', ...form }, body: { a: 1 } });
    assert.deepEqual(toBodyType(asForm, 'json'), data);
    assert.deepEqual(toBodyType({ url: 'u', headers: form, body: {} }, 'none'), { url: 'u' });
    assert.deepEqual(toBodyType({ body: '{"a": 1}' }, 'json'), { body: { a: 1 } });
    assert.deepEqual(toBodyType({ body: 'words' }, 'json'), { body: {} });
    assert.equal(bodyTypeOf(toBodyType({ body: [1] }, 'text')), 'text');
  });

  it('keeps the digits of long numbers when its type changes', () => {
    const body = '{"channel": 1234567890123456789}';
    assert.deepEqual(toBodyType({ body }, 'json'), { body });
    assert.deepEqual(toBodyType({ body }, 'form'), { headers: form, body: { channel: '1234567890123456789' } });
  });
});
