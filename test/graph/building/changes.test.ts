import assert from 'node:assert/strict';
import fc from 'fast-check';
import { framesOf } from '../../../console/drawing/bodies.js';
import { applyChanges, EMPTY_DRAWING } from '../../../graph/building/apply-changes.js';
import { ChangeError, readChanges } from '../../../graph/building/changes-schema.js';
import { withLinks } from '../../../graph/building/node-links.js';
import { toShortForm } from '../../../graph/building/short-form.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import { withoutLooks } from '../../../graph/drawing-change.js';
import type { JsonObject } from '../../../graph/json.js';
import { findBodies, loopsAround } from '../../../graph/loop-bodies.js';
import { kindOfType } from '../../../graph/nodes/registry.js';
import { readDrawing, Tape, toDocument } from '../../temporal-workflows/random-drawings/drawing.js';
import { changesOf } from './rebuild.js';

const numbers = fc.noBias(fc.array(fc.nat(5039), { minLength: 40, maxLength: 160, size: 'max' }));
const words = fc.string({ maxLength: 8 });
/** Fields for the data of any node, also ones that its kind does not have. */
const extras = fc.dictionary(
  fc.constantFrom('value', 'note', 'settings', 'constructor', 'version', 'retry'),
  fc.jsonValue({ maxDepth: 2 }),
);

interface DrawnNode extends JsonObject {
  id: string;
  type: string;
  data: JsonObject;
}

interface Drawn extends JsonObject {
  start_node: string;
  nodes: DrawnNode[];
  edges: JsonObject[];
}

/** A random drawing whose links stand in the edges, in the data, or in both. */
const drawings = fc
  .tuple(numbers, fc.array(extras, { maxLength: 12 }), fc.constantFrom('edges', 'data', 'both'))
  .map(([drawn, more, place]): Drawn => {
    const plain = toDocument(readDrawing(new Tape(drawn))) as unknown as Drawn;
    const { nodes: short } = toShortForm(plain);
    const nodes = plain.nodes.map((node, index) => {
      const data = { ...more[index], ...node.data };
      if (place === 'edges') return { ...node, data };
      const { next } = short[index]!;
      const links = new Map(Array.isArray(next) ? [['next', next]] : Object.entries(next));
      return { ...node, data: withLinks(kindOfType(node.type), data, links) };
    });
    return { ...plain, nodes, edges: place === 'data' ? [] : plain.edges };
  });

function problemOf(drawing: JsonObject, changes: unknown[]): { index: number; message: string } {
  try {
    applyChanges(drawing, readChanges(changes));
  } catch (error) {
    if (error instanceof ChangeError) return { index: error.index, message: error.message };
    throw error;
  }
  return assert.fail('the changes were made');
}

function nodeOf(drawing: JsonObject, id: string): DrawnNode {
  return (drawing['nodes'] as DrawnNode[]).find((node) => node.id === id)!;
}

const START = [
  { add: { id: 'start', kind: 'trigger-node' } },
  { add: { id: 'get', kind: 'http-node', label: 'Get', data: { url: 'https://a.example/' }, after: 'start' } },
];
const STARTED = applyChanges(EMPTY_DRAWING, readChanges(START));

describe('changes of a drawing', () => {
  it('rebuild any drawing from its short form, the same but for positions', () => {
    fc.assert(
      fc.property(drawings, (drawing) => {
        const short = toShortForm(drawing);
        const rebuilt = applyChanges(EMPTY_DRAWING, readChanges(changesOf(short)));
        assert.deepEqual(toShortForm(rebuilt), short);
        const [before, after] = [compilePlan(drawing), compilePlan(rebuilt)];
        if (!before.ok || !after.ok) return assert.deepEqual(after, before);
        assert.deepEqual(after.plan, before.plan);
        // Once the links of both drawings are written into the same places, the drawings are equal in every key.
        const written = applyChanges(drawing, everythingAgain(drawing));
        const redrawn = applyChanges({ ...written, edges: [] }, everythingAgain(drawing));
        assert.deepEqual(sorted(withoutLooks(rebuilt)), sorted(withoutLooks(redrawn)));
      }),
      { numRuns: 200, seed: 7 },
    );
  });

  it('leave every node alone that they do not name, and what is no node', () => {
    fc.assert(
      fc.property(drawings, fc.nat(), words, (plain, at, label) => {
        fc.pre(label !== '');
        const drawing = {
          ...plain,
          viewport: { zoom: 2 },
          notes: [{ text: 'a note' }],
          settings: { execution: 'dense' },
        };
        const { id } = plain.nodes[at % plain.nodes.length]!;
        const changed = applyChanges(drawing, readChanges([{ rename: { node: id, label } }]));
        assert.deepEqual({ ...changed, nodes: [], edges: [] }, { ...drawing, nodes: [], edges: [] });
        for (const node of plain.nodes) if (node.id !== id) assert.equal(nodeOf(changed, node.id), node);
        assert.equal(nodeOf(changed, id).data['label'], label);
        assert.deepEqual(withoutLabels(toShortForm(changed).nodes), withoutLabels(toShortForm(drawing).nodes));
      }),
      { numRuns: 150, seed: 7 },
    );
  });

  it('keep the identity and the looks of edges whose links stay', () => {
    const drawing = {
      ...STARTED,
      edges: [{ id: 'mine', source: 'start', target: 'get', animated: true, label: 'first' }],
    };
    const changed = applyChanges(drawing, readChanges([{ add: { id: 'end', kind: 'output-node', after: 'start' } }]));
    assert.deepEqual(changed['edges'], [
      { id: 'mine', source: 'start', target: 'get', animated: true, label: 'first' },
      { id: 'start-out-end', source: 'start', target: 'end' },
    ]);
  });

  it('draw every link once any is drawn', () => {
    const nodes = ['a', 'b', 'c'].map((id, index, ids) => ({
      id,
      type: index === 0 ? 'trigger-node' : 'set-node',
      data: { id, next_nodes: ids.slice(index + 1, index + 2) },
    }));
    const changed = applyChanges({ nodes, start_node: 'a' }, readChanges([{ unlink: { from: 'b', to: 'c' } }]));
    assert.deepEqual(changed['edges'], [{ id: 'a-out-b', source: 'a', target: 'b' }]);
  });

  it('add the first trigger as the start, and start elsewhere once it is removed', () => {
    assert.equal(STARTED['start_node'], 'start');
    const two = applyChanges(STARTED, readChanges([{ add: { id: 'other', kind: 'trigger-node' } }]));
    assert.equal(two['start_node'], 'start');
    const one = applyChanges(two, readChanges([{ remove: 'start' }]));
    assert.deepEqual([one['start_node'], one['edges']], ['other', []]);
    assert.equal(applyChanges(one, readChanges([{ remove: 'other' }]))['start_node'], '');
  });

  it('set a place in the data by its pointer', () => {
    const path = (at: string, value: unknown) => ({ set: { node: 'get', path: at, value } });
    const changed = applyChanges(
      STARTED,
      readChanges([
        path('/headers/X-A~1B~0C', '1'),
        path('/tools', [{ a: 1 }]),
        path('/tools/-', 2),
        path('/tools/0/a', null),
        path('/__proto__', { polluted: true }),
        path('/method', 'POST'),
      ]),
    );
    const { data } = nodeOf(changed, 'get');
    assert.deepEqual(
      [data['headers'], data['tools'], data['method'], data['url']],
      [{ 'X-A/B~C': '1' }, [{ a: null }, 2], 'POST', 'https://a.example/'],
    );
    assert.equal(Object.hasOwn(data, '__proto__'), true);
    assert.equal(({} as JsonObject)['polluted'], undefined);
  });

  it('drop the links of exits that a change takes away, and keep those of the others', () => {
    const cases = (...ids: string[]) => ids.map((id) => ({ id, condition: { left: '1', operator: '==', right: '1' } }));
    const drawing = applyChanges(
      STARTED,
      readChanges([
        { add: { id: 'which', kind: 'switch-node', data: { cases: cases('a', 'b') }, after: 'get' } },
        { add: { id: 'x', kind: 'output-node', after: { node: 'which', exit: 'a' } } },
        { add: { id: 'y', kind: 'output-node', after: { node: 'which', exit: 'b' } } },
        { link: { from: 'which', exit: 'default', to: 'y' } },
        { set: { node: 'which', path: '/cases', value: cases('b', 'c') } },
      ]),
    );
    assert.deepEqual(toShortForm(drawing).nodes.find(({ id }) => id === 'which')?.next, { default: ['y'], b: ['y'] });
    assert.equal(
      (drawing['edges'] as JsonObject[]).some(({ target }) => target === 'x'),
      false,
    );
  });

  it('name the index of the first change that cannot be made, with the reason', () => {
    const get = (path: string, value: unknown = 1) => ({ set: { node: 'get', path, value } });
    const wrong: [unknown, RegExp][] = [
      ['text', /one key/],
      [{}, /one key/],
      [{ add: { id: 'a', kind: 'set-node' }, remove: 'get' }, /one key/],
      [{ destroy: 'get' }, /one key/],
      [{ add: { id: 'a b', kind: 'set-node' } }, /add\.id: an id has/],
      [{ add: { id: 'x'.repeat(65), kind: 'set-node' } }, /add\.id/],
      [{ add: { id: 'get', kind: 'set-node' } }, /"get" already/],
      [{ add: { id: 'a', kind: 'email-node' } }, /no kind "email-node"/],
      [{ add: { id: 'a' } }, /names the kind/],
      [{ add: { id: 'a', action: { service: 'x', id: 'y' } } }, /no action "y" of a service "x"/],
      [{ add: { id: 'a', kind: 'set-node', data: { next_nodes: [] } } }, /"\/next_nodes" holds links/],
      [{ add: { id: 'a', kind: 'set-node', after: 'nobody' } }, /no node "nobody"/],
      [{ add: { id: 'a', kind: 'set-node', after: { node: 'get', exit: 'maybe' } } }, /no exit "maybe": it has "next"/],
      [{ add: { id: 'a', kind: 'set-node', extra: 1 } }, /extra/],
      [{ set: { node: 'get', path: '/url' } }, /value is missing/],
      [{ set: { node: 'nobody', path: '/url', value: 1 } }, /no node "nobody"/],
      [get('url'), /no JSON Pointer/],
      [get('/a~2'), /no JSON Pointer/],
      [get('/url/deep'), /nothing inside a string/],
      [get('', []), /is an object/],
      [get('/id'), /is not set/],
      [get('/label'), /rename/],
      [get('/next_nodes', ['start']), /holds links/],
      [get('/error_node', 'start'), /holds links/],
      [get('/a'.repeat(300)), /nested too deeply/],
      [{ link: { from: 'get', to: 'nobody' } }, /no node "nobody"/],
      [{ link: { from: 'get', exit: 'error', to: 'start' } }, /no exit "error"/],
      [{ unlink: { from: 'get', to: 'start' } }, /does not lead to/],
      [{ remove: 'nobody' }, /no node/],
      [{ rename: { node: 'get', label: '' } }, /rename\.label/],
      [{ fields: 'none' }, /fields/],
    ];
    for (const [change, message] of wrong) {
      const fine = { rename: { node: 'get', label: 'Fine' } };
      const problem = problemOf(STARTED, [fine, change, fine]);
      assert.equal(problem.index, 1, JSON.stringify(change));
      assert.match(problem.message, message);
    }
    assert.match(problemOf(EMPTY_DRAWING, [{ fields: [] }]).message, /no trigger/);
  });

  it('refuse links in the items of a list', () => {
    const value = [{ id: 'a', node: 'get', condition: { left: '', operator: '==', right: '' } }];
    const change = { add: { id: 'which', kind: 'switch-node', data: { cases: value } } };
    assert.match(problemOf(STARTED, [change]).message, /"\/cases\/0\/node" holds links/);
  });

  it('refuse literal credentials and name connections; variables and ******** stay', () => {
    const set = (path: string, value: unknown) => [{ set: { node: 'get', path, value } }];
    for (const changes of [
      set('/headers', { Authorization: 'Bearer sk-1' }),
      set('/headers', { 'X-Api-Key': 'abc {{ input.key }}' }),
      set('/url', 'https://user:password@a.example/'),
      [{ fields: [{ id: 'key', is_secret: true, default_value: 'sk-1' }] }],
      [{ add: { id: 'a', kind: 'agent-node', data: { tools: [{ headers: { 'X-Token': 'sk-1' } }] } } }],
    ]) {
      const { message } = problemOf(STARTED, changes);
      assert.match(message, /Name a connection/);
      assert.doesNotMatch(message, /sk-1|abc|password@/);
    }
    for (const changes of [
      set('/headers', { Authorization: 'Bearer {{ input.key }}', Accept: 'text/plain' }),
      set('/headers', { Authorization: '********' }),
      [{ fields: [{ id: 'key', is_secret: true }] }],
    ]) {
      assert.ok(applyChanges(STARTED, readChanges(changes)));
    }
  });
});

describe('the place of new nodes', () => {
  interface Box {
    x: number;
    y: number;
  }

  const overlap = (one: Box, other: Box): boolean => Math.abs(one.x - other.x) < 220 && Math.abs(one.y - other.y) < 64;

  it('overlaps nothing, whatever is drawn already', () => {
    const position = fc.record({ x: fc.integer({ min: -900, max: 900 }), y: fc.integer({ min: -900, max: 900 }) });
    const steps = fc.array(fc.tuple(fc.nat(30), fc.boolean()), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(position, { maxLength: 20 }), steps, (positions, added) => {
        const nodes = positions.map((place, index) => ({
          id: `n${index}`,
          type: 'set-node',
          position: place,
          data: {},
        }));
        const changes = added.map(([after, isLinked], index) => {
          const known = nodes.length + index;
          const behind = after % (known + 1);
          const name = behind < nodes.length ? `n${behind}` : `m${behind - nodes.length}`;
          const isKnown = isLinked && behind < known;
          return { add: { id: `m${index}`, kind: 'set-node', ...(isKnown && { after: name }) } };
        });
        const changed = applyChanges({ nodes }, readChanges(changes));
        const places = (changed['nodes'] as { id: string; position: Box }[]).map(({ id, position: at }) => ({
          id,
          ...at,
        }));
        for (const [index, { id, ...place }] of places.entries()) {
          if (!id.startsWith('m')) continue;
          for (const other of places.toSpliced(index, 1)) {
            assert.equal(overlap(place, other), false, `${id} and ${other.id}: ${JSON.stringify(places)}`);
          }
        }
      }),
      { numRuns: 150, seed: 7 },
    );
  });

  it('keeps what is outside of a loop out of its frame, and what is inside within', () => {
    const step = fc.record({ after: fc.nat(30), isLoop: fc.boolean(), goesIn: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        const loops = new Set(steps.flatMap(({ isLoop }, index) => (isLoop ? [index] : [])));
        const added = steps.map(({ after, isLoop, goesIn }, index) => {
          const before = index === 0 ? undefined : after % index;
          const exit = before !== undefined && loops.has(before) && goesIn ? 'body' : 'next';
          const link = before === undefined ? {} : { after: { node: `n${before}`, exit } };
          return { add: { id: `n${index}`, kind: isLoop ? 'for-each-node' : 'set-node', data: {}, ...link } };
        });
        assertFrames(applyChanges({ nodes: [] }, readChanges(added)));
      }),
      { numRuns: 150, seed: 11 },
    );
  });

  it('finds room in a body and behind it that are drawn already', () => {
    const add = (id: string, after: object | string, kind = 'set-node') => readChanges([{ add: { id, kind, after } }]);
    let changed = applyChanges(STARTED, add('loop', 'start', 'for-each-node'));
    for (const [id, after] of [
      ['first', { node: 'loop', exit: 'body' }],
      ['behind', 'loop'],
      ['second', 'first'],
      ['third', { node: 'loop', exit: 'body' }],
      ['last', 'behind'],
    ] as const) {
      changed = applyChanges(changed, add(id, after));
      assertFrames(changed);
    }
  });

  /** Fails if a frame holds a node that is not in its body. */
  function assertFrames(changed: JsonObject): void {
    const nodes = changed['nodes'] as { id: string; type: string; position: Box }[];
    const links = (changed['edges'] as { source: string; target: string; sourceHandle?: string }[]).map(
      ({ source, target, sourceHandle }) => ({ source, target, isIntoBody: sourceHandle === 'body' }),
    );
    const bodies = findBodies(
      nodes.map(({ id }) => id),
      undefined,
      links,
    );
    const rectOf = (id: string) => {
      const { type, position } = nodes.find((node) => node.id === id)!;
      return { ...position, width: 220, height: type === 'set-node' ? 64 : 120 };
    };
    for (const { loop, ...frame } of framesOf(bodies, rectOf)) {
      for (const { id } of nodes) {
        if (loopsAround(bodies, id).includes(loop)) continue;
        const rect = rectOf(id);
        const isApart =
          rect.x >= frame.x + frame.width ||
          frame.x >= rect.x + 220 ||
          rect.y >= frame.y + frame.height ||
          frame.y >= rect.y + 64;
        assert.ok(
          isApart,
          `${id} is in the frame of ${loop}: ${JSON.stringify(nodes.map((node) => [node.id, node.position]))}`,
        );
      }
    }
  }

  it('is to the right of the node before, below what stands there', () => {
    const changed = applyChanges(
      { nodes: [{ id: 'a', type: 'trigger-node', position: { x: 100, y: 50 }, data: {} }], start_node: 'a' },
      readChanges(['b', 'c'].map((id) => ({ add: { id, kind: 'set-node', after: 'a' } }))),
    );
    const [b, c] = [nodeOf(changed, 'b')['position'] as Box, nodeOf(changed, 'c')['position'] as Box];
    assert.deepEqual([b, c.x, c.y > b.y + 64], [{ x: 392, y: 50 }, 392, true]);
  });
});

function withoutLabels(nodes: { label: string }[]): object[] {
  return nodes.map((node) => ({ ...node, label: '' }));
}

/** Changes that touch each node and change nothing. */
function everythingAgain(drawing: JsonObject) {
  const { nodes } = toShortForm(drawing);
  return nodes.map(({ id, label }) => ({ rename: { node: id, label } }));
}

/** Orders nodes and edges, which a drawing may list in any order. */
function sorted({ nodes, edges, ...rest }: JsonObject): JsonObject {
  const byText = (list: unknown): string[] =>
    (list as JsonObject[]).map((item) => JSON.stringify(Object.entries(item).toSorted(byKey))).toSorted();
  return { ...rest, nodes: (nodes as DrawnNode[]).toSorted((a, b) => (a.id < b.id ? -1 : 1)), edges: byText(edges) };
}

function byKey([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
