import assert from 'node:assert/strict';
import { runTheSame, withoutLooks } from '../../graph/drawing-change.js';
import { ExactNumber } from '../../graph/exact-number.js';
import { isEqualJson, type JsonObject } from '../../graph/json.js';
import { assertCostRatio, cpuMilliseconds } from '../support/cpu-time.js';

const NODE = { id: 'a', type: 'http-node', data: { id: 'a', label: 'Call', url: 'https://a.example', position: 1 } };
const EDGE = { id: 'e', source: 'a', target: 'b', sourceHandle: 'condition-true' };
const DRAWING = { start_node: 'a', nodes: [NODE], edges: [EDGE], settings: { execution: 'dense' } };

const same = (left: JsonObject, right: JsonObject, secrets = {}, others = secrets): boolean =>
  runTheSame({ data: left, secrets }, { data: right, secrets: others });
const withNode = (changes: JsonObject): JsonObject => ({ ...DRAWING, nodes: [{ ...NODE, ...changes }] });
const withData = (changes: JsonObject): JsonObject => withNode({ data: { ...NODE.data, ...changes } });
const withEdge = (changes: JsonObject): JsonObject => ({ ...DRAWING, edges: [{ ...EDGE, ...changes }] });

describe('a change of a drawing', () => {
  const looks: [title: string, drawing: JsonObject][] = [
    ['the viewport', { ...DRAWING, viewport: { x: 1, y: 2, zoom: 3 } }],
    ['the position of a node', withNode({ position: { x: 10, y: 20 }, positionAbsolute: { x: 10, y: 20 } })],
    [
      'the size of a node',
      withNode({ width: 10, height: 20, measured: { width: 10 }, style: { width: 1, height: 2 } }),
    ],
    ['the selection', { ...withNode({ selected: true, dragging: true }), edges: [{ ...EDGE, selected: true }] }],
    ['the looks of an edge', withEdge({ type: 'smoothstep', animated: true, style: { stroke: 'red' }, markerEnd: {} })],
    ['a note beside the nodes', { ...DRAWING, notes: [{ id: 'n', text: 'read me', position: { x: 1, y: 2 } }] }],
    ['a remark of an import', { ...DRAWING, remarks: [{ id: 'r', message: 'read me' }] }],
    ['the order of keys', { edges: [EDGE], settings: { execution: 'dense' }, nodes: [NODE], start_node: 'a' }],
  ];
  for (const [title, drawing] of looks) {
    it(`is no other version where only ${title} differs`, () => {
      assert.equal(same(DRAWING, drawing), true);
      assert.equal(same(drawing, DRAWING), true);
    });
  }

  const contents: [title: string, drawing: JsonObject][] = [
    ['the label of a node', withData({ label: 'Other' })],
    ['a field of a node', withData({ url: 'https://b.example' })],
    ['a field of a node that is called like a look', withData({ position: 2 })],
    ['a field that a node has no longer', withData({ url: undefined })],
    ['the type of a node', withNode({ type: 'mcp-node' })],
    ['the target of an edge', withEdge({ target: 'c' })],
    ['the handle of an edge', withEdge({ sourceHandle: 'condition-false' })],
    ['the label of an edge', withEdge({ label: 'yes' })],
    ['the start', { ...DRAWING, start_node: 'b' }],
    ['the settings', { ...DRAWING, settings: { execution: 'visible' } }],
    ['what an editor keeps beside the nodes', { ...DRAWING, colors: ['red'] }],
    ['a node', { ...DRAWING, nodes: [NODE, { ...NODE, id: 'b' }] }],
    ['the order of nodes', { ...DRAWING, nodes: [{ id: 'b' }, NODE] }],
  ];
  for (const [title, drawing] of contents) {
    it(`is another version where ${title} differs`, () => {
      assert.equal(same(DRAWING, drawing), false);
      assert.equal(same(drawing, DRAWING), false);
    });
  }

  it('is another version where only a secret differs, behind its mask', () => {
    const name = 'field:a:token';
    assert.equal(same(DRAWING, DRAWING, { [name]: 'one' }), true);
    assert.equal(same(DRAWING, DRAWING, { [name]: 'one' }, { [name]: 'two' }), false);
    assert.equal(same(DRAWING, DRAWING, { [name]: 'one' }, {}), false);
  });

  it('never fails, whatever is in the places of nodes and edges', () => {
    const odd = [
      {},
      { nodes: 'none', edges: 7, viewport: null },
      { nodes: [null, 7, 'x', [], { style: null }, { style: [] }], edges: [null, [[]]] },
      JSON.parse('{"__proto__":{"a":1},"nodes":[{"__proto__":{"position":1},"constructor":1}],"edges":{}}'),
    ] as JsonObject[];
    for (const drawing of odd) {
      assert.equal(same(drawing, JSON.parse(JSON.stringify(drawing)) as JsonObject), true);
      for (const other of odd) assert.equal(same(drawing, other), drawing === other);
    }
    const kept = withoutLooks(odd[3]!);
    assert.deepEqual(Object.keys(kept), ['__proto__', 'nodes', 'edges']);
  });
});

describe('equality of JSON', () => {
  it('tells lists from objects, null from absent, and numbers that a double cannot hold', () => {
    assert.equal(isEqualJson([], {}), false);
    assert.equal(isEqualJson({ a: null }, {}), false);
    assert.equal(isEqualJson({ a: null }, { b: null }), false);
    assert.equal(isEqualJson('1', 1), false);
    const [one, two] = ['9007199254740993', '9007199254740995'].map((text) => new ExactNumber(text));
    assert.equal(isEqualJson([one], [new ExactNumber('9007199254740993')]), true);
    assert.equal(isEqualJson([one], [two]), false);
  });

  it('takes linear time and no stack, however deep and wide the values are', async () => {
    const deep = (size: number): unknown => {
      let value: unknown = 1;
      for (let depth = 0; depth < size; depth += 1) value = [value];
      return value;
    };
    const wide = (size: number, last: number): unknown =>
      Array.from({ length: size }, (_, at) => (at + 1 === size ? last : at));
    const costOf = (left: unknown, right: unknown, isEqual: boolean): number =>
      cpuMilliseconds(() => assert.equal(isEqualJson(left, right), isEqual));
    const sizes = { small: 30_000, large: 300_000, limit: 30 };
    await assertCostRatio((size) => costOf(deep(size), deep(size), true), sizes);
    await assertCostRatio((size) => costOf(wide(size, -1), wide(size, -2), false), sizes);
  });
});
