import assert from 'node:assert/strict';
import {
  addNode,
  connect,
  disconnect,
  followHandles,
  freePlace,
  mayConnect,
  moveNodes,
  removeNodes,
  setData,
  setLabel,
  startValue,
  tidyUp,
} from '../../../console/drawing/change-drawing.js';
import { copyNodes, pasteNodes } from '../../../console/drawing/clipboard.js';
import { cpuMilliseconds } from '../../support/cpu-time.js';
import { byType, dataOf, nodesOf, positionOf, type Drawing } from '../../../console/drawing/drawing.js';
import { flowNodes } from '../../../console/drawing/flow-nodes.js';
import { linksOf } from '../../../console/drawing/links.js';
import { readLinks } from '../../../console/drawing/run-links.js';
import { flowEdges } from '../../../console/drawing/use-flow.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { condition, drawing, edge, http, trigger } from '../../graph/drawings.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const pairs = (of: Drawing) => linksOf(of, kinds).map(({ source, handle, target }) => [source, handle, target]);
const [triggerKind, httpKind, conditionKind] = ['trigger-node', 'http-node', 'if-else-node'].map((type) =>
  kinds.get(type)!,
);

describe('a drawing that is changed in the editor', () => {
  it('gives a new node no empty list of exits', () => {
    for (const kind of kinds.values()) {
      const added = addNode({}, kinds, kind, { x: 0, y: 0 });
      const listed = dataOf(nodesOf(added.drawing).get(added.id))[kind.handles_from ?? ''];
      assert.notDeepEqual(listed, [], kind.title);
    }
  });

  it('gives a new request the setting response, without which older drawings mean something else', () => {
    const added = addNode({}, kinds, httpKind!, { x: 0, y: 0 });
    assert.deepEqual(dataOf(nodesOf(added.drawing).get(added.id))['settings'], { response: 'auto' });
  });

  it('begins a list with few items, whatever number the schema of a stranger demands', () => {
    const list = (items: object): object => ({ type: 'array', minItems: 1_000, items });
    assert.deepEqual(startValue({ ...list({ type: 'string' }), minItems: 3 }), ['', '', '']);
    const [first, ...others] = startValue(list({ ...list(list({ type: 'string' })), minItems: 2 })) as unknown[];
    assert.deepEqual(first, [[], []]);
    assert.equal(others.length, 19);
  });

  it('has room for a new node, however far away the nodes are', () => {
    const far = { ...http('a', []), position: { x: -1e19, y: 1e19 } };
    // Asked first, because the search for room would never end with another answer.
    assert.deepEqual(positionOf(far), { x: 0, y: 0 });
    const { x, y } = freePlace(drawing([far]), new Set(), { x: 0, y: 0 });
    assert.deepEqual([x > 0, y], [true, 0]);
  });

  it('runs as it is linked there', () => {
    const start = addNode({}, kinds, triggerKind!, { x: 0, y: 0 });
    const request = addNode(start.drawing, kinds, httpKind!, { x: 300, y: 0 });
    const test = addNode(request.drawing, kinds, conditionKind!, { x: 600, y: 0 });
    const end = addNode(test.drawing, kinds, httpKind!, { x: 900, y: 0 });
    const ids = [start.id, request.id, test.id, end.id] as const;
    let drawn = connect(end.drawing, kinds, { source: ids[0], handle: null, target: ids[1] });
    drawn = connect(drawn, kinds, { source: ids[1], handle: null, target: ids[2] });
    drawn = connect(drawn, kinds, { source: ids[2], handle: 'condition-false', target: ids[3] });
    const compiled = compilePlan(drawn);
    assert.ok(compiled.ok, JSON.stringify(compiled));
    assert.deepEqual(compiled.plan.ids, ids);
    assert.deepEqual(compiled.plan.out, [[[1, 0]], [[2, 0]], [[3, 2]], []]);
    assert.equal((drawn['edges'] as unknown[]).length, 3);
  });

  it('takes no link to itself, twice, in a circle, or by a handle that its kind does not have', () => {
    const drawn = drawing([trigger('t', ['a']), http('a', ['c']), condition('c', { true_node: 'd' }), http('d', [])]);
    const links = [
      ['a', null, 'a'],
      ['t', null, 'a'],
      ['d', null, 't'],
      ['c', null, 'd'],
      ['a', 'condition-true', 'd'],
      ['a', null, 'nobody'],
    ] as const;
    for (const [source, handle, target] of links) {
      assert.equal(mayConnect(drawn, kinds, { source, handle, target }), false, `${source} ${handle} ${target}`);
      assert.equal(connect(drawn, kinds, { source, handle, target }), drawn);
    }
    assert.ok(mayConnect(drawn, kinds, { source: 'c', handle: 'condition-false', target: 'd' }));
  });

  it('shows the links that run, where only edges draw them, and where the data says otherwise', () => {
    const onlyEdges = drawing([trigger('t', undefined), http('a')], [edge('t', 'a')]);
    assert.deepEqual(pairs(onlyEdges), [['t', null, 'a']]);
    const otherwise = drawing([trigger('t', ['a']), http('a', []), http('b', [])], [edge('t', 'b')]);
    const links = linksOf(otherwise, kinds);
    assert.deepEqual(
      links.map(({ target, isIdle }) => [target, isIdle]),
      [
        ['a', false],
        ['b', true],
      ],
    );
  });

  it('loses a link from the data and from the edges, and keeps the others', () => {
    const drawn = drawing([trigger('t', ['a', 'b']), http('a', []), http('b', [])], [edge('t', 'a'), edge('t', 'b')]);
    const [first] = linksOf(drawn, kinds);
    const left = disconnect(drawn, kinds, [first!]);
    assert.deepEqual(pairs(left), [['t', null, 'b']]);
    assert.deepEqual(dataOf(nodesOf(left).get('t'))['next_nodes'], ['b']);
    assert.deepEqual(left['edges'], [edge('t', 'b')]);
  });

  it('starts no drawn link by the loss of another one, or of its target', () => {
    const nodes = [
      condition('c', { true_node: 'd' }),
      { id: 's', type: 'switch-node', data: { cases: [{ id: 'one', node: 'd' }] } },
    ];
    const drawn = drawing(
      [trigger('t', ['c', 's']), ...nodes, http('d', []), http('e', [])],
      [edge('c', 'e', 'condition-true'), edge('s', 'e', 'one')],
    );
    const links = linksOf(drawn, kinds).filter(({ target }) => target === 'd');
    assert.equal(links.length, 2);
    for (const left of [disconnect(drawn, kinds, links), removeNodes(drawn, kinds, new Set(['d']))]) {
      const drawnOnly = linksOf(left, kinds).filter(({ target }) => target === 'e');
      assert.deepEqual(
        drawnOnly.map(({ source, isIdle }) => [source, isIdle]),
        [
          ['c', true],
          ['s', true],
        ],
      );
      const compiled = compilePlan(left);
      assert.ok(compiled.ok, JSON.stringify(compiled));
      assert.deepEqual(compiled.plan.ids, ['t', 'c', 's']);
      assert.deepEqual(
        readLinks(left).links.map(({ from, to }) => [from, to]),
        [
          ['t', 'c'],
          ['t', 's'],
        ],
      );
    }
    const both = disconnect(
      drawn,
      kinds,
      linksOf(drawn, kinds).filter(({ source }) => source === 'c'),
    );
    assert.equal(dataOf(nodesOf(both).get('c'))['true_node'], null);
  });

  it('draws an ordinary link also where another exit leads to the same node', () => {
    const drawn = drawing(
      [trigger('t', ['n']), http('n', [], { on_error: 'branch' }), http('b', [])],
      [edge('n', 'b', 'error')],
    );
    const linked = connect(drawn, kinds, { source: 'n', handle: null, target: 'b' });
    assert.deepEqual(
      (linked['edges'] as { sourceHandle?: string }[]).map(({ sourceHandle }) => sourceHandle),
      ['error', undefined],
    );
    const odd = drawing([condition('c'), http('b', [])], [edge('c', 'b'), edge('c', 'b', 'gone')]);
    const [plain] = linksOf(odd, kinds);
    assert.deepEqual(disconnect(odd, kinds, [plain!])['edges'], [edge('c', 'b', 'gone')]);
  });

  it('loses a node with its links, and begins at another trigger when it was the start', () => {
    const drawn = drawing([trigger('t', ['a']), http('a', []), trigger('u', ['a'])], [edge('t', 'a'), edge('u', 'a')]);
    const left = removeNodes(drawn, kinds, new Set(['t']));
    assert.deepEqual([...nodesOf(left).keys()], ['a', 'u']);
    assert.equal(left['start_node'], 'u');
    assert.deepEqual(pairs(left), [['u', null, 'a']]);
    const none = removeNodes(left, kinds, new Set(['u', 'a']));
    assert.ok(!Object.hasOwn(none, 'start_node'));
  });

  it('stays the same object where nothing changes', () => {
    const drawn = drawing([trigger('t', ['a']), http('a', [])]);
    assert.equal(moveNodes(drawn, new Map([['t', { x: 0, y: 0 }]])), drawn);
    assert.equal(removeNodes(drawn, kinds, new Set(['nobody'])), drawn);
    assert.equal(setData(drawn, 'a', dataOf(nodesOf(drawn).get('a'))), drawn);
  });

  it('is renamed in one node, which keeps what has changed in it meanwhile', () => {
    const changed = { ...http('a', ['c']), position: { x: 7, y: 7 } };
    const renamed = setLabel(drawing([changed, http('c', [])]), 'a', 'Orders');
    assert.deepEqual(nodesOf(renamed).get('a'), { ...changed, data: { ...dataOf(changed), label: 'Orders' } });
    assert.deepEqual(pairs(renamed), [['a', null, 'c']]);
    assert.equal(setLabel(renamed, 'gone', 'Orders'), renamed);
  });

  it('is tidied without two nodes at one place, and without any other change', () => {
    const drawn = drawing([trigger('t', ['a', 'b']), http('a', ['c']), http('b', ['c']), http('c', [])]);
    const tidied = tidyUp(drawn, kinds);
    const places = [...nodesOf(tidied).values()].map((node) => JSON.stringify(node['position']));
    assert.equal(new Set(places).size, 4);
    const without = (of: Drawing) => [...nodesOf(of).values()].map(({ position: _position, ...rest }) => rest);
    assert.deepEqual(without(tidied), without(drawn));
  });
});

describe('pasted nodes', () => {
  const variable = '{{ a.result.content }} {{ t.result.content }} {{ input.a }}';
  const drawn = drawing(
    [
      trigger('t', ['a']),
      http('a', ['b'], { id: 'a' }),
      http('b', [], { id: 'b', url: 'https://a.example/{{ input.q }}', body: variable }),
    ],
    [edge('t', 'a'), edge('a', 'b')],
  );
  const pasted = pasteNodes(drawn, kinds, copyNodes(drawn, kinds, new Set(['a', 'b'])), { x: 40, y: 40 })!;
  const [a, b] = [...pasted.keys];

  it('have ids of their own, in their data, too, and stand beside what was copied', () => {
    assert.deepEqual([...nodesOf(pasted.drawing).keys()], ['t', 'a', 'b', a, b]);
    assert.equal(dataOf(nodesOf(pasted.drawing).get(a!))['id'], a);
    assert.deepEqual(nodesOf(pasted.drawing).get(b!)?.['position'], { x: 40, y: 40 });
  });

  it('have links among themselves only', () => {
    const own = pairs(pasted.drawing).filter(
      ([source, , target]) => pasted.keys.has(source!) || pasted.keys.has(target!),
    );
    assert.deepEqual(own, [[a, null, b]]);
  });

  it('use each other’s results, and those of the nodes that were not copied', () => {
    const body = dataOf(nodesOf(pasted.drawing).get(b!))['body'];
    assert.equal(body, `{{ ${a}.result.content }} {{ t.result.content }} {{ input.a }}`);
    assert.equal(dataOf(nodesOf(pasted.drawing).get(b!))['url'], 'https://a.example/{{ input.q }}');
  });

  it('rename variables in linear time, and those alone that have an end', () => {
    const value = `{{${' '.repeat(50_000)}{{a.result}} {{ a.result`;
    const long = drawing([http('a', [], { id: 'a', value })], []);
    const copied = copyNodes(long, kinds, new Set(['a']));
    let found = pasted;
    assert.ok(cpuMilliseconds(() => (found = pasteNodes(long, kinds, copied, { x: 0, y: 0 })!)) < 200);
    const [id] = [...found.keys];
    const renamed = dataOf(nodesOf(found.drawing).get(id!))['value'];
    assert.equal(renamed, `{{${' '.repeat(50_000)}{{${id}.result}} {{ a.result`);
  });

  it('come only from texts that a copy of nodes has made', () => {
    for (const text of ['', 'text', '{', '{}', '[]', 'null', '{"format":"workflow-automation-nodes/1"}']) {
      assert.equal(pasteNodes(drawn, kinds, text, { x: 0, y: 0 }), undefined);
    }
  });
});

describe('where the exits of a node change', () => {
  /** A start, the node `n` that leads to `a`, and two more requests. */
  const around = (type: string, data: Record<string, unknown>, edges: object[] = []): Drawing =>
    drawing(
      [
        trigger('t', ['n']),
        { id: 'n', type, position: { x: 0, y: 0 }, data: { id: 'n', label: 'n', ...data } },
        http('a', []),
        http('b', []),
      ],
      edges,
    );
  const change = (of: Drawing, data: Record<string, unknown>): Drawing => {
    const next = setData(of, 'n', { ...dataOf(nodesOf(of).get('n')), ...data });
    return followHandles(of, next, kinds, 'n');
  };
  const ofNode = (of: Drawing) => pairs(of).filter(([source]) => source === 'n');
  const edgesOf = (of: Drawing) => (of['edges'] as { sourceHandle?: string }[]).map((each) => each.sourceHandle);

  it('the first item takes over the ordinary link, and gives it back when it goes', () => {
    const [yes, no] = [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No' },
    ];
    const task = around('human-node', { next_nodes: ['a'] }, [edge('n', 'a')]);
    const one = change(task, { actions: [yes] });
    assert.deepEqual(ofNode(one), [['n', 'yes', 'a']]);
    assert.deepEqual(edgesOf(one), ['yes']);
    const two = connect(change(one, { actions: [{ ...yes, node: 'a' }, no] }), kinds, {
      source: 'n',
      handle: 'no',
      target: 'b',
    });
    assert.deepEqual(ofNode(two), [
      ['n', 'yes', 'a'],
      ['n', 'no', 'b'],
    ]);
    const left = change(two, { actions: [(dataOf(nodesOf(two).get('n'))['actions'] as object[])[1]] });
    assert.deepEqual(ofNode(left), [['n', 'no', 'b']]);
    assert.deepEqual(edgesOf(left), ['no']);
    const none = change(left, { actions: [] });
    assert.deepEqual(ofNode(none), [['n', null, 'b']]);
    assert.deepEqual(edgesOf(none), [undefined]);
  });

  it('the links of an exit go with it, whether data or edges hold them', () => {
    const drawnOnly = around('http-node', { next_nodes: ['a'], on_error: 'branch' }, [
      { ...edge('n', 'b'), sourceHandle: 'error' },
    ]);
    assert.deepEqual(ofNode(drawnOnly), [
      ['n', null, 'a'],
      ['n', 'error', 'b'],
    ]);
    const stopped = change(drawnOnly, { on_error: 'fail' });
    assert.deepEqual(ofNode(stopped), [['n', null, 'a']]);
    assert.deepEqual(edgesOf(stopped), []);
    const inData = around('http-node', { next_nodes: ['a'], on_error: 'branch', error_node: 'b' });
    const back = change(change(inData, { on_error: 'fail' }), { on_error: 'branch' });
    assert.deepEqual(ofNode(back), [['n', null, 'a']]);
  });

  it('a link from an exit that a node does not have is drawn, and can be deleted', () => {
    const drawn = around('human-node', { actions: [{ id: 'yes', label: 'Yes', node: 'a' }] }, [
      { ...edge('n', 'b'), sourceHandle: 'gone' },
    ]);
    const [, lost] = flowEdges(drawn, kinds, new Set(), { byId: new Map(), all: [] }).filter(
      ({ source }) => source === 'n',
    );
    const looks = { drawing: drawn, kinds, selection: { nodes: new Set<string>(), links: new Set<string>() } };
    const card = flowNodes({ ...looks, problems: [], moving: new Map() }).find(({ id }) => id === 'n')!;
    assert.ok(card.handles!.some(({ id }) => id === lost!.sourceHandle));
    const left = disconnect(drawn, kinds, [lost!.data!.link]);
    assert.deepEqual(ofNode(left), [['n', 'yes', 'a']]);
    assert.deepEqual(edgesOf(left), []);
  });

  it('a link from an exit that the mode of a node does not offer is drawn as one that does not run', () => {
    const memory = { byId: new Map(), all: [] };
    const looksOf = (drawn: Drawing) => {
      const link = flowEdges(drawn, kinds, new Set(), memory).find(({ target }) => target === 'b')!;
      const looks = { drawing: drawn, kinds, selection: { nodes: new Set<string>(), links: new Set<string>() } };
      const card = flowNodes({ ...looks, problems: [], moving: new Map() }).find(({ id }) => id === 'n')!;
      assert.ok(card.handles!.some(({ id }) => id === link.sourceHandle));
      return [link.sourceHandle, link.className];
    };
    const targets = { next_nodes: ['a'], timeout_node: 'b' };
    const called = around('wait-node', { mode: 'callback', ...targets });
    const timed = around('wait-node', { mode: 'duration', seconds: 1, ...targets });
    assert.deepEqual(looksOf(called), ['timeout', 'link']);
    assert.deepEqual(looksOf(timed), ['(lost)', 'link link-idle']);
    assert.deepEqual(looksOf(called), ['timeout', 'link']);
    const [, lost] = linksOf(timed, kinds).filter(({ source }) => source === 'n');
    assert.deepEqual(ofNode(disconnect(timed, kinds, [lost!])), [['n', null, 'a']]);
  });
});
