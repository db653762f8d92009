import assert from 'node:assert/strict';
import { graphs, toDrawing } from '../../bench/graphs.js';

interface Drawing {
  nodes: { id: string; type: string; data: { label: string } }[];
  edges: { source: string; target: string; sourceHandle?: string }[];
}

describe('graphs of the benchmark', () => {
  it('diamonds are three conditions in a row, each with a call on either side whose ways meet again', () => {
    const { nodes, edges } = toDrawing(graphs.diamonds, 'http://target') as unknown as Drawing;
    const targetsOf = (id: string, handle?: string): string[] =>
      edges.filter(({ source, sourceHandle }) => source === id && sourceHandle === handle).map(({ target }) => target);
    const typeOf = new Map(nodes.map(({ id, type }) => [id, type]));
    let [next] = targetsOf(nodes[0]!.id);
    for (let diamond = 1; diamond <= 3; diamond++) {
      assert.equal(typeOf.get(next!), 'if-else-node');
      const [whenTrue, whenFalse] = ['condition-true', 'condition-false'].map((handle) => targetsOf(next!, handle));
      assert.equal(whenTrue!.length, 1);
      assert.equal(whenFalse!.length, 1);
      assert.deepEqual(typeOf.get(whenTrue![0]!), 'http-node');
      const met = targetsOf(whenTrue![0]!);
      assert.deepEqual(targetsOf(whenFalse![0]!), met);
      [next] = met;
    }
    assert.equal(typeOf.get(next!), 'http-node', 'the ways of the last one meet in a call');
    assert.equal(nodes.length, 1 + 3 * 3 + 1);
  });

  it('a for-each makes one call for each of its items, as many side by side as it says', () => {
    const { nodes, edges } = toDrawing(graphs['for-each-100-by-20'], 'http://target') as unknown as Drawing;
    const [start, each, call] = nodes.map(({ id }) => id);
    assert.deepEqual(
      edges.map(({ source, target, sourceHandle }) => [source, target, sourceHandle]),
      [
        [start, each, undefined],
        [each, call, 'body'],
      ],
    );
    const { items, concurrency } = nodes[1]!.data as unknown as { items: number[]; concurrency: number };
    assert.deepEqual([items.length, items.at(-1), concurrency], [100, 100, 20]);
    assert.match((nodes[2]!.data as unknown as { url: string }).url, new RegExp(`/\\{\\{ ${each}\\.item \\}\\}\\?`));
  });
});
