import assert from 'node:assert/strict';
import fc from 'fast-check';
import { NODE_HEIGHT, NODE_WIDTH, toPicture } from '../../../console/drawing/drawing-picture.js';
import { chain, condition, drawing, link, trigger } from '../../../harness/drawing/drawing.js';

const node = (id: string, data: object = {}, position?: unknown) => ({ id, type: 'x-node', position, data });

describe('the picture of a drawing', () => {
  it('has the nodes where they were drawn, moved to the corner', () => {
    const { nodes, width, height } = toPicture({
      nodes: [node('a', { label: 'First' }, { x: -500, y: 40 }), node('b', {}, { x: -100, y: 10 })],
    });
    assert.deepEqual(nodes, [
      { id: 'a', label: 'First', x: 16, y: 46 },
      { id: 'b', label: 'x-node', x: 416, y: 16 },
    ]);
    assert.deepEqual([width, height], [416 + NODE_WIDTH + 16, 46 + NODE_HEIGHT + 16]);
  });

  it('draws the links that run, those of branches with their names, and each once', () => {
    const [start, choice, yes, no] = [trigger(), condition('1', '==', '1'), trigger(), trigger()];
    link(start, choice);
    link(choice, yes, 'true');
    link(choice, no, 'false');
    const { links } = toPicture(drawing([start, choice, yes, no]));
    assert.deepEqual(
      links.map(({ from, to, branch }) => [from.id, to.id, branch]),
      [
        [start.id, choice.id, ''],
        [choice.id, yes.id, 'true'],
        [choice.id, no.id, 'false'],
      ],
    );
  });

  it('knows the handles of kinds that it has never seen', () => {
    const { links } = toPicture({
      nodes: [
        node('a', {
          error_node: 'b',
          cases: [
            { id: 'c1', label: 'Big', node: 'c' },
            { id: 'c2', node: 'b' },
          ],
        }),
        node('b'),
        node('c'),
      ],
      edges: [
        { source: 'b', target: 'c', sourceHandle: 'timeout' },
        // The console also draws the links of cases, by their ids.
        { source: 'a', target: 'c', sourceHandle: 'c1' },
        { source: 'a', target: 'b', sourceHandle: 'c2' },
      ],
    });
    assert.deepEqual(
      links.map(({ from, to, branch }) => `${from.id} ${to.id} ${branch}`),
      ['a b error', 'a c Big', 'a b c2', 'b c timeout'],
    );
  });

  it('lays out what has no places, all the same place, or places miles apart', () => {
    const nodesAt = (positions: unknown[]) =>
      positions.map((position, at) => node(`n${at}`, { next_nodes: [`n${at + 1}`] }, position));
    for (const positions of [
      [undefined, undefined, undefined],
      [
        { x: 0, y: 0 },
        { x: 0, y: 0 },
        { x: 0, y: 0 },
      ],
      [
        { x: 0, y: 0 },
        { x: 1e308, y: 0 },
        { x: -1e308, y: 0 },
      ],
      [{ x: 'a', y: null }, [], 7],
    ]) {
      const { nodes } = toPicture({ nodes: nodesAt(positions) });
      assert.deepEqual(
        nodes.map(({ x, y }) => [x, y]),
        [0, 1, 2].map((column) => [16 + column * (NODE_WIDTH + 72), 16]),
      );
    }
  });

  it('ends where links go round in circles, and takes thousands of nodes', () => {
    const ring = [node('a', { next_nodes: ['b'] }), node('b', { next_nodes: ['a'] })];
    assert.equal(toPicture({ nodes: ring }).links.length, 2);
    const { nodes, width } = toPicture({
      ...chain(5_000),
      nodes: chain(5_000).nodes.map((one) => ({ ...one, position: null })),
    });
    assert.equal(nodes.length, 5_000);
    assert.ok(width > 0);
  });

  it('is made of whatever somebody has stored, with finite numbers', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), fc.array(fc.anything({ maxDepth: 3 })), (anything, list) => {
        for (const given of [anything, { nodes: list, edges: anything }, { nodes: anything, edges: list }]) {
          const { nodes, width, height } = toPicture(given);
          for (const number of [width, height, ...nodes.flatMap(({ x, y }) => [x, y])])
            assert.ok(Number.isFinite(number));
        }
      }),
    );
  });
});
