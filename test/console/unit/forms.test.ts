import assert from 'node:assert/strict';
import {
  currentRows,
  fromJsonText,
  parseNumber,
  problemOfJson,
  toJsonText,
  toRecord,
  toRows,
} from '../../../console/forms/values.js';
import { propertiesOf, shapeOf, titleOfPath, variantOptions } from '../../../console/forms/schema.js';
import { exitOfEdge, exitsOf, setAt, targetsIn, withTargets } from '../../../console/drawing/links.js';
import { byType, type NodeKind } from '../../../console/drawing/drawing.js';
import { startValue } from '../../../console/drawing/change-drawing.js';
import { toText } from '../../../console/ui/json.js';
import { ExactNumber } from '../../../graph/exact-number.js';
import type { JsonObject } from '../../../graph/json.js';
import { groupsOf, toUniqueId, withoutGroups } from '../../../console/kinds/kind-fields.js';
import { runFields, toInput, toTexts } from '../../../console/parts/run-input/run-input.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { drawing, trigger } from '../../graph/drawings.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const schemaOf = (type: string) => kinds.get(type)!.schema as { properties: Record<string, Record<string, unknown>> };

describe('the generic form', () => {
  it('puts what every node may say under a heading of its own, and leaves the rest to the kind', () => {
    for (const { schema, type } of kinds.values()) {
      const groups = groupsOf(schema).map(({ heading, keys }) => [heading, keys]);
      assert.deepEqual(groups, [['Errors, retries and start', ['on_error', 'retry', 'join']]], type);
      assert.equal(Object.keys(propertiesOf(withoutGroups(schema))).includes('on_error'), false);
    }
  });

  it('chooses a control by the schema', () => {
    const { url, method, headers, body, settings } = schemaOf('http-node').properties;
    const shapes = [shapeOf(url!, 'url'), shapeOf(method!, 'method'), shapeOf(headers!, 'headers')];
    assert.deepEqual(shapes, ['text', 'suggestions', 'record']);
    assert.deepEqual([shapeOf(body!, 'body'), shapeOf(settings!, 'settings')], ['json', 'object']);
    assert.equal(shapeOf(schemaOf('basic-node').properties['messages']!, 'messages'), 'list');
    assert.equal(shapeOf({ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'temperature'), 'number');
    assert.equal(shapeOf({ type: ['boolean', 'null'] }, 'is_secret'), 'boolean');
    assert.equal(shapeOf({ enum: ['a', 'b'] }, 'x'), 'choice');
    assert.equal(shapeOf({}, 'x'), 'json');
    assert.equal(shapeOf(schemaOf('output-node').properties['value']!, 'value'), 'json');
  });

  it('offers the words of an alternative, and its objects by their fields', () => {
    const policy = {
      anyOf: [{ enum: ['always', 'never'] }, { type: 'object', properties: { always: {}, never: {} } }],
    };
    assert.deepEqual(
      variantOptions(policy).map(({ label }) => label),
      ['always', 'never', 'with always and never'],
    );
  });

  it('names a field of a problem by its titles, also where the schema does not know it', () => {
    const schema = schemaOf('basic-node');
    assert.equal(titleOfPath(schema, 'messages.0.message'), 'Messages 1 › Message');
    assert.equal(titleOfPath(schema, 'settings.own'), 'Settings › own');
    assert.equal(titleOfPath(schema, 'constructor.x'), 'constructor › x');
    assert.equal(titleOfPath(schema, ''), '');
    const condition = schemaOf('if-else-node');
    assert.equal(titleOfPath(condition, 'condition.all.0.any.1.left'), 'Condition › All 1 › Any 2 › Left');
    assert.equal(shapeOf(condition.properties['condition']!, 'condition'), 'condition');
  });

  it('begins a node with what its schema requires, and with nothing that it leaves open', () => {
    assert.deepEqual(startValue(kinds.get('basic-node')!.schema), {
      messages: [{ role: 'user', message: '' }],
      settings: { model_name: '' },
    });
    const request = { url: '', settings: { response: 'auto' } };
    assert.deepEqual(startValue(kinds.get('http-node')!.schema), request);
    assert.deepEqual(startValue(kinds.get('if-else-node')!.schema), {
      condition: { left: '', operator: '==', right: '' },
    });
    assert.deepEqual(startValue(kinds.get('set-node')!.schema), { value: '' });
  });

  it('keeps JSON and texts as what they are', () => {
    for (const value of [null, 0, true, 'text', '{{ input.a }}', '12', 'null', '', '{"a"', { a: [1] }, []]) {
      assert.deepEqual(fromJsonText(toJsonText(value)), value, JSON.stringify(value));
    }
    assert.equal(fromJsonText('  '), undefined);
  });

  it('writes numbers as they were written where the runtime keeps their digits', () => {
    const exact = { price: new ExactNumber('2.50'), tags: ['2.50', new ExactNumber('1.0')] };
    assert.equal(toText(exact), '{\n  "price": 2.50,\n  "tags": [\n    "2.50",\n    1.0\n  ]\n}');
    assert.equal(toText(new ExactNumber('2.50')), '2.50');
    assert.equal(toText({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}');
  });

  it('says of JSON without its end that it is a text, but not of a variable', () => {
    for (const text of ['{"a": 1', '[1, 2', '[{"a": 1}']) assert.match(problemOfJson(text) ?? '', /not complete JSON/);
    assert.equal(problemOfJson('{{ input.a }} and more'), undefined);
  });

  it('keeps JSON with a number that JavaScript would round as the text that was written, and says so', () => {
    const problem = 'A number has more digits than can be kept: put it in quotation marks.';
    for (const text of [
      '{"channel": 1234567890123456789}',
      '[-0.1234567890123456789]',
      '12345678901234567890',
      '1e400',
    ]) {
      assert.equal(fromJsonText(text), text);
      assert.equal(problemOfJson(text), problem);
      assert.equal(fromJsonText(toJsonText(text)), text);
    }
    assert.equal(toJsonText('{"channel": 1234567890123456789}'), '{"channel": 1234567890123456789}');
    assert.equal(toJsonText('1234567890123456789'), '"1234567890123456789"');
    assert.deepEqual(fromJsonText('{"channel": "1234567890123456789", "share": 0.1}'), {
      channel: '1234567890123456789',
      share: 0.1,
    });
    assert.equal(problemOfJson('{"channel": "1234567890123456789", "share": 0.10}'), undefined);
    assert.equal(problemOfJson('{"a": 12345678901234567890'), 'This is not complete JSON yet; as it is, it is a text.');
    assert.equal(problemOfJson('{{ input.order }}'), undefined);
    assert.equal(parseNumber('1234567890123456789'), '1234567890123456789');
  });

  it('takes numbers as numbers, and variables as texts', () => {
    assert.deepEqual(['1.50', '-2e3', '', 'Infinity', '{{ input.a }}', '0x10'].map(parseNumber), [
      1.5,
      -2000,
      undefined,
      'Infinity',
      '{{ input.a }}',
      16,
    ]);
  });

  it('keeps rows without a name while they are written, and forgets them when the value changes elsewhere', () => {
    const rows = [...toRows({ a: '1' }), { name: '', value: 'x' }];
    assert.deepEqual(toRecord(rows), { a: '1' });
    assert.equal(currentRows(rows, { a: '1' }), rows);
    assert.deepEqual(currentRows(rows, { b: '2' }), [{ name: 'b', value: '2' }]);
  });

  it('names an input field after its title, like no other one', () => {
    assert.equal(toUniqueId('Order number (new)', []), 'order_number_new');
    assert.equal(toUniqueId('Größe', [{ id: 'größe' }]), 'große');
    assert.equal(toUniqueId('!!', [{ id: 'field' }]), 'field_2');
  });
});

describe('the ways out of a node', () => {
  const withCases = {
    handles: [{ id: 'default', label: 'Default', field: 'default_node' }],
    handles_from: 'cases',
  } as unknown as NodeKind;

  it('an edge takes the way out of its name, else the ordinary one; an edge for failures takes no other', () => {
    const wait = kinds.get('wait-node');
    const taken = (sourceHandle: unknown, data: JsonObject = {}) =>
      exitOfEdge({ sourceHandle }, exitsOf(wait, data))?.handle;
    assert.equal(taken('timeout'), 'timeout');
    assert.equal(taken(undefined), null);
    assert.equal(taken('whatever'), null);
    assert.equal(taken('error'), undefined);
    assert.equal(taken('error', { on_error: 'branch' }), 'error');
    assert.equal(exitOfEdge({ sourceHandle: 'body' }, exitsOf(kinds.get('for-each-node'), {}))?.handle, 'body');
  });

  it('a node that survives its failure by a link has a way out for it, beside its own', () => {
    const kind = kinds.get('http-node');
    const ways = (data: JsonObject) => exitsOf(kind, data).map(({ handle, label }) => [handle, label]);
    assert.deepEqual(ways({ on_error: 'continue' }), [[null, '']]);
    assert.deepEqual(ways({ on_error: 'branch' }), [
      [null, ''],
      ['error', 'Failed'],
    ]);
    const [, failed] = exitsOf(kind, { on_error: 'branch' });
    assert.deepEqual(withTargets({ on_error: 'branch' }, failed!, ['x']), { on_error: 'branch', error_node: 'x' });
  });

  it('are those of its kind and those of its items', () => {
    const data = {
      cases: [{ id: 'a', label: 'A', node: 'x' }, { label: 'without an id' }, 'no object'],
      default_node: '',
    };
    const exits = exitsOf(withCases, data);
    assert.deepEqual(
      exits.map(({ handle, label }) => [handle, label]),
      [
        ['a', 'A'],
        ['default', 'Default'],
      ],
    );
    assert.deepEqual(
      exits.map((exit) => targetsIn(data, exit)),
      [['x'], undefined],
    );
    const changed = withTargets(withTargets(data, exits[0]!, []), exits[1]!, ['y', 'z']);
    assert.deepEqual(changed, {
      cases: [{ id: 'a', label: 'A', node: null }, { label: 'without an id' }, 'no object'],
      default_node: ['y', 'z'],
    });
  });

  it('are changed without a change of anything beside them', () => {
    const value = { a: { b: [1, { c: 2 }] }, d: {} };
    const next = setAt(value, ['a', 'b', 1, 'c'], 3) as typeof value;
    assert.deepEqual(next, { a: { b: [1, { c: 3 }] }, d: {} });
    assert.equal(next.d, value.d);
    assert.deepEqual(value.a.b[1], { c: 2 });
  });
});

describe('the input of a run', () => {
  const fields = [
    { id: 'a', title: 'A', type: 'number', input_requirements: true, default_value: '500' },
    {
      id: 'b',
      type: 'select',
      options: [
        { title: 'One', value: '1' },
        { title: 'Two', value: '2', is_default: true },
      ],
    },
    { id: 'c', is_secret: true, default_value: '********', input_requirements: true },
    { id: '', title: 'without an id' },
  ];
  const known = runFields(drawing([trigger('t', [], fields)]), kinds);

  it('is asked for by the start node’s fields, a stored secret not again', () => {
    assert.deepEqual(
      known.map(({ title, start, isRequired }) => [title, start, isRequired]),
      [
        ['A', '500', true],
        ['b', '2', false],
        ['c', '', false],
      ],
    );
  });

  it('holds what was written, numbers as they are written, and nothing for what was left empty', () => {
    assert.deepEqual(toInput(known, new Map()), { a: 500, b: '2' });
    assert.deepEqual(
      toInput(
        known,
        new Map([
          ['a', '12345678901234567890'],
          ['b', ''],
          ['c', 'secret'],
        ]),
      ),
      { a: '12345678901234567890', c: 'secret' },
    );
  });

  it('is shown by the fields where it is an object with no other keys, else only as JSON', () => {
    const texts = toTexts(known, { a: 500, c: { deep: [1] } });
    assert.deepEqual(
      [...(texts ?? [])],
      [
        ['a', '500'],
        ['c', '{"deep":[1]}'],
      ],
    );
    assert.deepEqual(toTexts(known, {}), new Map());
    const others = [{ a: 1, other: 2 }, [], 'text', null, undefined];
    for (const input of others) assert.equal(toTexts(known, input), undefined);
  });
});
