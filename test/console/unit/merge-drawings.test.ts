import assert from 'node:assert/strict';
import { changedNodes, mergeDrawings } from '../../../console/drawing/merge-drawings.js';
import { byType } from '../../../console/drawing/drawing.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import type { JsonObject } from '../../../graph/json.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const node = (id: string, data: JsonObject = {}) => ({ id, type: 'set-node', data });
const drawn = (...nodes: JsonObject[]): JsonObject => ({ start_node: 'a', nodes, edges: [] });
const edge = (source: string, target: string) => ({ source, target, sourceHandle: null });

describe('merging drawings', () => {
  const base = drawn(node('a', { value: '1', next_nodes: ['b'] }), node('b'), node('c'));

  it('takes the one where the other is as it was', () => {
    const changed = drawn(node('a'));
    assert.equal(mergeDrawings(kinds, base, structuredClone(base), changed), changed);
    assert.equal(mergeDrawings(kinds, base, changed, structuredClone(base)), changed);
  });

  it('joins nodes, fields and links of both', () => {
    const mine = drawn(node('a', { value: '1', next_nodes: ['b', 'm'] }), node('b', { label: 'Mine' }), node('m'));
    const theirs = drawn(
      node('a', { value: '2', next_nodes: ['b', 't'] }),
      node('b', { note: 'theirs' }),
      node('c'),
      node('t'),
    );
    const expected = drawn(
      node('a', { value: '2', next_nodes: ['b', 'm', 't'] }),
      node('b', { label: 'Mine', note: 'theirs' }),
      node('m'),
      node('t'),
    );
    assert.deepEqual(mergeDrawings(kinds, base, mine, theirs), expected);
  });

  it('keeps what a person has changed where both have changed it, or the other has removed it', () => {
    const mine = drawn(node('a', { value: 'mine', next_nodes: ['b'] }), node('b'), node('c', { label: 'mine' }));
    const theirs = drawn(node('a', { value: 'theirs', next_nodes: ['b'] }), node('b', { x: 1 }));
    assert.deepEqual(mergeDrawings(kinds, base, mine, theirs), {
      ...base,
      nodes: [node('a', { value: 'mine', next_nodes: ['b'] }), node('b', { x: 1 }), node('c', { label: 'mine' })],
    });
  });

  it('drops edges of nodes that one of both has removed', () => {
    const mine = { ...base, edges: [edge('a', 'b'), edge('b', 'c')] };
    const theirs = drawn(node('a', { value: '1', next_nodes: ['b'] }), node('b'));
    assert.deepEqual(mergeDrawings(kinds, base, mine, theirs)['edges'], [edge('a', 'b')]);
  });

  it('drops links to a node that one of both has removed', () => {
    const unlinked = drawn(node('a', { next_nodes: ['b'] }), node('b'), node('c'));
    const mine = drawn(node('a', { next_nodes: ['b'] }), node('b'));
    const theirs = drawn(node('a', { next_nodes: ['b', 'c'] }), node('b'), node('c'));
    assert.deepEqual(mergeDrawings(kinds, unlinked, mine, theirs), mine);
  });

  it('says which nodes are new or changed, wherever they stand', () => {
    const moved = { ...node('b'), position: { x: 1, y: 2 } };
    assert.deepEqual([...changedNodes(base, drawn(node('a', { value: '2' }), moved, node('d')))], ['a', 'd']);
  });
});
