import assert from 'node:assert/strict';
import { lineOf, looksOf } from '../../../console/drawing/kind-looks.js';
import { openingView } from '../../../console/drawing/opening.js';
import { cpuMilliseconds } from '../../support/cpu-time.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';

const LABELS: Record<string, string> = { 'a-1': 'Orders' };
const line = (type: string, data: Record<string, unknown>) => lineOf(type, data, (id) => LABELS[id]);

describe('how the kinds of nodes look', () => {
  it('gives each kind an icon and a colour, and an unknown kind a plain one', () => {
    const types = describeNodes().map(({ type }) => type);
    const icons = new Set(types.map((type) => looksOf(type).icon));
    assert.equal(icons.size, types.length);
    for (const type of types) assert.notEqual(looksOf(type).hue, undefined, type);
    assert.equal(looksOf('strange-node').hue, undefined);
    assert.equal(looksOf('__proto__').hue, undefined);
  });

  it('says in one line what a node does', () => {
    const condition = { left: '{{ a-1.result.json.total }}', operator: '>=', right: '100' };
    const a = (right: string) => ({ left: 'a', operator: '==', right });
    const cases: [type: string, data: Record<string, unknown>, line: string][] = [
      ['http-node', { url: 'https://user:pass@api.test/v1/orders/?key=1', method: 'POST' }, 'POST api.test/v1/orders'],
      ['http-node', { url: '{{ input.address }}' }, 'GET address'],
      ['http-node', { url: '' }, ''],
      ['basic-node', { settings: { model_name: 'small' } }, 'small'],
      ['agent-node', { settings: { model_name: 'small' }, tools: [{}] }, 'small · 1 tool'],
      ['if-else-node', { condition }, 'Orders › json.total is at least 100'],
      ['if-else-node', { condition: { left: 'a', operator: 'is_empty' } }, 'a is empty'],
      [
        'if-else-node',
        { condition: { all: [condition, { left: 'a', operator: 'is_empty' }] } },
        'Orders › json.total is at least 100 and a is empty',
      ],
      [
        'if-else-node',
        { condition: { any: [{ all: [a('1'), a('2')] }, { all: [a('3')] }, {}] } },
        '(a is 1 and a is 2) or a is 3',
      ],
      ['if-else-node', { condition: { all: [{}, 'x', null] } }, ''],
      ['if-else-node', {}, ''],
      ['trigger-node', { input_fields: [{ id: 'city', title: 'City name' }, { id: 'n' }] }, 'Input: City name, n'],
      ['for-each-node', { items: '{{ a-1.result }}' }, 'Each of Orders'],
      ['loop-node', { until: { left: '{{ a-1.last }}', operator: '==', right: 'ok' } }, 'Until Orders › last is ok'],
      ['wait-node', { mode: 'duration', seconds: 30 }, 'For 30 seconds'],
      ['wait-node', { mode: 'duration', seconds: '{{ input.n }}' }, 'For n s'],
      ['wait-node', { mode: 'callback' }, 'For a callback'],
      ['switch-node', { cases: [{}, {}], mode: 'all' }, '2 cases, all that hold'],
      ['human-node', { message: '\n# Approve?\nmore' }, '# Approve?'],
      ['set-node', { value: { a: '{{ unknown.result }}' } }, '{"a":"{{ unknown.result }}"}'],
      ['mcp-node', { tool_name: 'add', endpoint_url: 'https://tools.test/mcp' }, 'add on tools.test/mcp'],
      ['strange-node', { url: 'x' }, ''],
    ];
    for (const [type, data, expected] of cases) assert.equal(line(type, data), expected, type);
  });

  it('returns a text for data of any shape', () => {
    for (const { type } of describeNodes()) {
      for (const odd of [null, 7, 'text', [], [null], { a: [] }]) {
        const keys = ['url', 'method', 'settings', 'tools', 'condition', 'cases', 'code', 'value', 'items', 'until'];
        const more = ['mode', 'seconds', 'message', 'tool_name', 'endpoint_url', 'input_fields', 'workflow_id'];
        const data = Object.fromEntries([...keys, ...more].map((key) => [key, odd]));
        assert.equal(typeof line(type, data), 'string');
      }
    }
  });
});

describe('the line of a node with a long text', () => {
  it('costs little, whatever the text is', () => {
    const value = `{{${' '.repeat(2_000)}`;
    assert.ok(cpuMilliseconds(() => assert.equal(line('set-node', { value }), '{{')) < 200);
    const many = '{{ a-1.result }}'.repeat(100_000);
    assert.ok(cpuMilliseconds(() => assert.equal(line('set-node', { value: many }).length, 120)) < 200);
  });
});

describe('the view with which a drawing opens', () => {
  const at = (id: string, x: number, y: number) => ({ id, position: { x, y }, width: 200, height: 64 });
  const size = { width: 800, height: 600 };
  const seen = (nodes: ReturnType<typeof at>[], first: string) => {
    const { x, y, zoom } = openingView(nodes, first, size);
    const inSight = nodes.filter(({ position }) => {
      const [left, top] = [position.x * zoom + x, position.y * zoom + y];
      return left >= 0 && top >= 0 && left + 200 * zoom <= size.width && top + 64 * zoom <= size.height;
    });
    return { zoom, ids: inSight.map(({ id }) => id) };
  };

  it('holds everything that fits, in the middle', () => {
    assert.deepEqual(seen([at('a', 0, 0), at('b', 300, 0)], 'a'), { zoom: 1, ids: ['a', 'b'] });
    const { x } = openingView([at('a', 0, 0)], 'a', size);
    assert.equal(x, 300);
  });

  it('is never too small to read, and wastes no room around the first node', () => {
    const row = Array.from({ length: 20 }, (_, number) => at(`n${number}`, number * 280, 0));
    assert.deepEqual(seen(row, 'n0'), { zoom: 0.6, ids: ['n0', 'n1', 'n2', 'n3'] });
    assert.deepEqual(seen(row, 'n19').ids, ['n16', 'n17', 'n18', 'n19']);
    assert.ok(seen(row, 'n10').ids.includes('n10'));
  });
});
