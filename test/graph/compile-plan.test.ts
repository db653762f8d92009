import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compilePlan } from '../../graph/compile-plan.js';
import type { Plan } from '../../graph/plan.js';
import { condition, drawing, edge, http, trigger } from './drawings.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

function planOf(data: unknown): Plan {
  const compiled = compilePlan(data);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.plan;
}

function codesOf(data: unknown): string[] {
  const compiled = compilePlan(data);
  assert.ok(!compiled.ok, 'expected structural errors');
  for (const { message } of compiled.errors) assert.match(message, /^[A-Z].*\.$/s, 'a message is a sentence');
  return compiled.errors.map(({ code }) => code);
}

/** Every edge as text, by ids: `a->b`, with the branch where there is one. */
function edgesOf(plan: Plan): string[] {
  return plan.out.flatMap((links, from) =>
    links.map(([to, branch]) => `${plan.ids[from]}->${plan.ids[to]}${branch ? `:${branch}` : ''}`),
  );
}

function named(id: string, next: string[]) {
  return http(id, next, { label: id.toUpperCase() });
}

function label(data: Record<string, unknown>): string | undefined {
  return planOf(drawing([http('a', undefined, data)])).labels[0];
}

describe('compilePlan: structural errors', () => {
  const cases: [title: string, data: unknown, codes: string[]][] = [
    ['data that is null', null, ['invalid_document']],
    ['data that is a list', [], ['invalid_document']],
    ['data that is a text', 'nodes', ['invalid_document']],
    ['an empty object', {}, ['no_nodes']],
    ['an empty list of nodes', { nodes: [], start_node: 'a' }, ['no_nodes']],
    ['nodes that are not a list', { nodes: { a: {} }, start_node: 'a' }, ['no_nodes']],
    ['no start node', { nodes: [http('a')] }, ['no_start_node']],
    ['a start node of null', { nodes: [http('a')], start_node: null }, ['no_start_node']],
    ['an unknown start node', { nodes: [http('a')], start_node: 'b' }, ['unknown_start_node']],
    ['a start node that is no text', { nodes: [http('a')], start_node: 7 }, ['unknown_start_node']],
    ['a duplicate node id', drawing([http('a'), http('a')]), ['duplicate_node_id']],
    ['a missing node id', drawing([http('a'), { type: 'http-node', data: {} }]), ['missing_node_id']],
    ['an empty node id', drawing([http('a'), http('')]), ['missing_node_id']],
    ['a node id that is a number', drawing([http('a'), { ...http('b'), id: 7 }]), ['invalid_node_id']],
    ['a node id of a megabyte', drawing([http('a'), http('b'.repeat(1e6))]), ['invalid_node_id']],
    ['a node id with half a surrogate pair', drawing([http('a'), http('\ud800')]), ['invalid_node_id']],
    ['a node id with a line break', drawing([http('a'), http('b\n')]), ['invalid_node_id']],
    ['a node that is a text', drawing([http('a'), 'b']), ['invalid_node']],
    ['a node that is null', drawing([http('a'), null]), ['invalid_node']],
    ['a node whose data is a list', drawing([http('a'), { ...http('b'), data: [] }]), ['invalid_node']],
    ['an unknown type', drawing([http('a'), { ...http('b'), type: 'sub-node' }]), ['unknown_node_type']],
    ['no type', drawing([http('a'), { id: 'b', data: {} }]), ['unknown_node_type']],
    ['a type named like a property', drawing([{ ...http('a'), type: 'constructor' }]), ['unknown_node_type']],
    ['an unknown link target', drawing([http('a', ['b'])]), ['unknown_link_target']],
    ['an unknown target of a branch', drawing([condition('a', { true_node: 'x' })]), ['unknown_link_target']],
    ['an unknown target of an edge', drawing([http('a')], [edge('a', 'b')]), ['unknown_link_target']],
    ['a link that is a number', drawing([http('a', [1])]), ['invalid_link']],
    ['an edge without a target', drawing([http('a')], [{ source: 'a' }]), ['invalid_link']],
    ['edges that are not a list', { ...drawing([http('a')]), edges: {} }, ['invalid_edges']],
    ['a node that links to itself', drawing([http('a', ['a'])]), ['cycle']],
    ['a cycle', drawing([http('a', ['b']), http('b', ['c']), http('c', ['b'])]), ['cycle']],
    ['a cycle through a branch', drawing([trigger('t', ['c']), condition('c', { false_node: 't' })]), ['cycle']],
    ['a cycle that the start does not reach', drawing([http('a'), http('b', ['c']), http('c', ['b'])]), ['cycle']],
  ];
  for (const [title, data, codes] of cases) {
    it(`${title} is refused as ${codes.join(', ')}`, () => assert.deepEqual(codesOf(data), codes));
  }

  it('more than 5,000 nodes are refused', () => {
    const nodes = Array.from({ length: 5001 }, (_, index) => http(`n${index}`));
    assert.deepEqual(codesOf(drawing(nodes)), ['too_many_nodes']);
    assert.equal(planOf(drawing(nodes.slice(1))).ids.length, 1);
  });

  it('more than 50,000 links are refused, and a plan of more than 1.5 MB, which is below the limit of Temporal', () => {
    const dense = (count: number) =>
      Array.from({ length: count }, (_, from) =>
        http(
          `n${from}`,
          Array.from({ length: count - from - 1 }, (_each, after) => `n${from + after + 1}`),
        ),
      );
    assert.deepEqual(codesOf(drawing(dense(317))), ['too_many_links']);
    assert.equal(planOf(drawing(dense(316))).ids.length, 316);
    const row = (length: number) =>
      Array.from({ length: 4000 }, (_, index) => {
        const idOf = (number: number) => String(number).padEnd(length, '\u00e4');
        return http(idOf(index), index === 3999 ? [] : [idOf(index + 1)]);
      });
    assert.deepEqual(codesOf(drawing(row(200))), ['plan_too_large']);
    assert.equal(planOf(drawing(row(36))).ids.length, 4000);
  });

  it('all errors come at once, each with its node where it has one', () => {
    const nodes = [http('a', ['x']), http('a'), { ...http('b'), type: '?' }, {}, http('c', ['d']), http('d', ['c'])];
    const compiled = compilePlan({ nodes, start_node: 'z' });
    assert.ok(!compiled.ok);
    assert.deepEqual(
      compiled.errors.map(({ code, node_id }) => [code, node_id]),
      [
        ['duplicate_node_id', 'a'],
        ['missing_node_id', undefined],
        ['unknown_start_node', undefined],
        ['unknown_link_target', 'a'],
        ['unknown_node_type', 'b'],
        ['cycle', 'c'],
      ],
    );
  });

  it('a cycle is named by the nodes on it, not by those before or behind', () => {
    const data = drawing([named('a', ['b']), named('b', ['c']), named('c', ['b', 'd']), named('d', [])]);
    const message = 'The workflow has a cycle: "B" -> "C" -> "B".';
    assert.deepEqual(compilePlan(data), { ok: false, errors: [{ code: 'cycle', message, node_id: 'b' }] });
    const behindFirst = [named('d', []), named('b', ['c']), named('c', ['d', 'b'])];
    assert.deepEqual(compilePlan(drawing(behindFirst)), {
      ok: false,
      errors: [{ code: 'cycle', message, node_id: 'b' }],
    });
  });
});

describe('compilePlan: links', () => {
  it("a node's own links run, and drawn edges serve only where it has none", () => {
    const data = drawing(
      [http('a', ['b']), http('b'), http('c'), http('d', [])],
      [edge('a', 'c'), edge('b', 'c'), edge('b', 'd'), edge('d', 'a')],
    );
    assert.deepEqual(edgesOf(planOf(data)), ['a->b', 'b->c', 'b->d']);
  });

  it('a node whose link is null or an empty text has no own links; an empty list counts as own links', () => {
    const edges = [edge('a', 'b', 'condition-true'), edge('a', 'c', 'condition-false')];
    const nodes = [condition('a', { true_node: null, false_node: '' }), http('b', []), http('c', null)];
    assert.deepEqual(edgesOf(planOf(drawing(nodes, [...edges, edge('b', 'c')]))), ['a->b:1', 'a->c:2']);
  });

  it('each branch of a condition looks for its own links first', () => {
    const nodes = [condition('a', { true_node: 'b' }), http('b'), http('c')];
    const edges = [edge('a', 'c', 'condition-true'), edge('a', 'c', 'condition-false')];
    assert.deepEqual(edgesOf(planOf(drawing(nodes, edges))), ['a->b:1', 'a->c:2']);
  });

  it('next_nodes of a condition and edges without a known handle lead nowhere', () => {
    const nodes = [condition('a', { next_nodes: ['b'] }), http('b')];
    assert.deepEqual(planOf(drawing(nodes, [edge('a', 'b'), edge('a', 'b', 'else')])).ids, ['a']);
  });

  it('both handles on one target are two edges; repeats on one handle are one', () => {
    const nodes = [condition('a'), http('b')];
    const edges = [
      edge('a', 'b', 'condition-false'),
      edge('a', 'b', 'condition-true'),
      edge('a', 'b', 'condition-true'),
    ];
    const plan = planOf(drawing(nodes, edges));
    assert.deepEqual(plan.out, [
      [
        [1, 1],
        [1, 2],
      ],
      [],
    ]);
    assert.deepEqual(plan.indegree, [0, 2]);
  });

  it('drawn edges that are not used are not checked', () => {
    assert.deepEqual(planOf(drawing([http('a', [])], [edge('a', 'gone'), edge('gone', 'a'), null, 'x'])).ids, ['a']);
  });
});

describe('compilePlan: the plan', () => {
  it('numbers nodes breadth first from the start, links in their order', () => {
    const nodes = [http('d', ['e']), http('e'), http('c', ['e']), http('b', ['d']), trigger('a', ['c', 'b'])];
    const plan = planOf({ nodes, start_node: 'a' });
    assert.deepEqual(plan.ids, ['a', 'c', 'b', 'e', 'd']);
    assert.deepEqual(plan.kinds, ['trigger', 'http', 'http', 'http', 'http']);
    assert.deepEqual(plan.out, [
      [
        [1, 0],
        [2, 0],
      ],
      [[3, 0]],
      [[4, 0]],
      [],
      [[3, 0]],
    ]);
    assert.deepEqual(plan.indegree, [0, 1, 1, 2, 1]);
  });

  it('drops what the start does not reach, with its edges into what it does', () => {
    const plan = planOf({ nodes: [http('dead', ['b']), http('a', ['b']), http('b')], start_node: 'a' });
    assert.deepEqual(plan.ids, ['a', 'b']);
    assert.deepEqual(plan.indegree, [0, 1]);
  });

  it('labels are the label, the name or the kind, without control characters, at most 60 characters', () => {
    assert.equal(label({ label: 'Fetch', name: 'other' }), 'Fetch');
    assert.equal(label({ label: '', name: 'Fetch' }), 'Fetch');
    assert.equal(label({ label: 5 }), 'http');
    assert.equal(label({ label: '\u0007\n' }), 'http');
    assert.equal(label({ label: 'a\u0000b\u001b[1m' }), 'ab[1m');
    assert.equal(label({ label: '😀'.repeat(100) }), '😀'.repeat(60));
    assert.equal(label({ label: 'x'.repeat(1e6) }), 'x'.repeat(60));
    assert.equal(label({ label: 'half \ud83d' }), 'half \ufffd');
  });

  it('does not depend on the order in which nodes are listed', () => {
    const nodes = [trigger('t', ['c', 'h']), condition('c', { true_node: 'x', false_node: 'h' }), http('h'), http('x')];
    const permutations = fc.shuffledSubarray(nodes, { minLength: 4 });
    const expected = planOf({ nodes, start_node: 't' });
    fc.assert(
      fc.property(permutations, (shuffled) => assert.deepEqual(planOf({ nodes: shuffled, start_node: 't' }), expected)),
    );
  });

  it('takes ids that are names of properties', () => {
    const plan = planOf(
      drawing([http('__proto__', ['constructor']), http('constructor', ['toString']), http('toString')]),
    );
    assert.deepEqual(plan.ids, ['__proto__', 'constructor', 'toString']);
  });
});

describe('compilePlan: size', () => {
  it('compiles a chain of 5,000 nodes in less than a second', () => {
    const nodes = Array.from({ length: 5000 }, (_, index) => http(`n${index}`, index < 4999 ? [`n${index + 1}`] : []));
    const data = drawing(nodes.toReversed());
    data['start_node'] = 'n0';
    assert.ok(cpuMilliseconds(() => assert.equal(planOf(data).ids[4999], 'n4999')) < 1000);
  });

  it('compiles a fan-out of 1,000 into one join in less than a second', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    const data = drawing([trigger('t', names), ...names.map((name) => http(name, ['join'])), http('join')]);
    assert.ok(cpuMilliseconds(() => assert.equal(planOf(data).indegree.at(-1), 1000)) < 1000);
  });

  it('finds a cycle of 5,000 nodes in less than a second', () => {
    const nodes = Array.from({ length: 5000 }, (_, index) => http(`n${index}`, [`n${(index + 1) % 5000}`]));
    assert.ok(cpuMilliseconds(() => assert.deepEqual(codesOf(drawing(nodes)), ['cycle'])) < 1000);
  });

  it('collapses 100,000 duplicate links and edges', () => {
    const edges = Array.from({ length: 100_000 }, () => edge('b', 'c'));
    const data = drawing([http('a', Array(100_000).fill('b')), http('b'), http('c')], edges);
    assert.ok(cpuMilliseconds(() => assert.deepEqual(edgesOf(planOf(data)), ['a->b', 'b->c'])) < 1000);
  });

  it('bounds the errors of a drawing that is nothing but errors', () => {
    const targets = Array.from({ length: 100_000 }, (_, index) => `gone${index}`);
    assert.ok(codesOf(drawing([http('a', targets)])).length <= 1001);
  });
});

describe('compilePlan: hostile drawings', () => {
  it('never throws, whatever JSON it gets', () => {
    fc.assert(fc.property(fc.jsonValue(), (data) => void compilePlan(data)));
    const node = fc.record({
      id: fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'length'), fc.jsonValue()),
      type: fc.oneof(fc.constantFrom('http-node', 'if-else-node', 'trigger-node'), fc.jsonValue()),
      data: fc.oneof(fc.record({ next_nodes: fc.jsonValue(), true_node: fc.jsonValue() }), fc.jsonValue()),
    });
    const edges = fc.array(fc.record({ source: fc.constantFrom('a', 'b', null), target: fc.jsonValue() }));
    const data = fc.record({
      nodes: fc.array(fc.oneof(node, fc.jsonValue())),
      edges,
      start_node: fc.constantFrom('a', 'length', 3),
    });
    fc.assert(fc.property(data, (hostile) => void compilePlan(hostile)));
  });

  it('survives nesting of any depth', () => {
    const deep: unknown = JSON.parse('['.repeat(1e6) + ']'.repeat(1e6));
    assert.equal(compilePlan(deep).ok, false);
    assert.equal(compilePlan(drawing([http('a', [], { body: deep })])).ok, true);
    assert.deepEqual(codesOf(drawing([http('a', deep)])), ['invalid_link']);
    assert.deepEqual(codesOf({ nodes: [{ id: deep, type: deep, data: deep }], start_node: deep }), [
      'invalid_node_id',
      'unknown_start_node',
    ]);
  });
});
