import assert from 'node:assert/strict';
import { compilePlan } from '../../graph/compile-plan.js';
import { indexOfPath, iterationPath, scopeOfPath } from '../../graph/iteration-path.js';
import { bodyPlan, enclosingLoops, lastNodesOf, rootPlan, type Plan } from '../../graph/plan.js';
import { parseVariable } from '../../graph/variable.js';
import { validateNodes } from '../../graph/validate.js';
import { findWarnings } from '../../graph/warnings.js';
import { condition, drawing, edge, http, llm, trigger } from './drawings.js';

function each(id: string, body: unknown, next: string[] = [], data: Record<string, unknown> = {}) {
  return { id, type: 'for-each-node', data: { items: '[1]', body_node: body, next_nodes: next, ...data } };
}

function rounds(id: string, body: unknown, data: Record<string, unknown> = {}) {
  const until = { left: '1', operator: '==', right: '1' };
  return { id, type: 'loop-node', data: { body_node: body, until, ...data } };
}

function compiled(data: unknown) {
  const result = compilePlan(data);
  assert.ok(result.ok, JSON.stringify(result));
  return result;
}

function codesOf(data: unknown): string[] {
  const result = compilePlan(data);
  assert.ok(!result.ok, 'expected structural errors');
  for (const { message } of result.errors) assert.match(message, /^[A-Z].*\.$/s);
  return result.errors.map(({ code, node_id: id }) => `${id} ${code}`);
}

/** The edges of a plan by ids, with the handle where there is one. */
function edgesOf({ ids, out }: Plan): string[] {
  return out.flatMap((links, from) =>
    links.map(([to, handle]) => `${ids[from]}->${ids[to]}${handle ? `:${handle}` : ''}`),
  );
}

const errorsOf = (data: unknown) => {
  const { document, plan } = compiled(data);
  return validateNodes(document, plan);
};

describe('the plan of a drawing with loops', () => {
  const nested = drawing([
    trigger('t', ['a']),
    each('a', 'b', ['end']),
    each('b', ['x', 'y'], ['c']),
    http('x', ['z']),
    http('y', ['z']),
    http('z'),
    rounds('c', 'r'),
    http('r'),
    http('end'),
  ]);

  it('has the nodes of each scope next to each other, and those outside bodies first', () => {
    const { plan } = compiled(nested);
    assert.deepEqual(plan.ids, ['t', 'a', 'end', 'b', 'c', 'x', 'y', 'z', 'r']);
    assert.deepEqual(plan.bodies, { 1: { first: 3, end: 5 }, 3: { first: 5, end: 8 }, 4: { first: 8, end: 9 } });
    assert.deepEqual(
      enclosingLoops(plan).map((loops) => loops.map((loop) => plan.ids[loop])),
      [[], [], [], ['a'], ['a'], ['a', 'b'], ['a', 'b'], ['a', 'b'], ['a', 'c']],
    );
    assert.deepEqual(
      lastNodesOf(plan, 3).map((node) => plan.ids[node]),
      ['z'],
    );
  });

  it('is cut into one plan for each scope, in which a body begins with its loop', () => {
    const { plan } = compiled(nested);
    assert.deepEqual(edgesOf(rootPlan(plan)), ['t->a', 'a->end']);
    assert.deepEqual(rootPlan(plan).indegree, [0, 1, 1]);
    const inner = bodyPlan(plan, 3);
    assert.deepEqual([inner.ids, inner.indegree, inner.offset], [['b', 'x', 'y', 'z'], [0, 1, 1, 2], 4]);
    assert.deepEqual(edgesOf(inner), ['b->x', 'b->y', 'x->z', 'y->z']);
    assert.deepEqual(edgesOf(bodyPlan(plan, 1)), ['a->b', 'b->c']);
  });

  it('is the whole plan where there are no loops', () => {
    const { plan } = compiled(drawing([http('a', ['b']), http('b')]));
    assert.deepEqual(rootPlan(plan), { ...plan, offset: 0 });
  });

  it('keeps what nodes of a body say of failures and joins, by their numbers in it', () => {
    const nodes = [
      each('a', ['x', 'y'], [], { output: 1 }),
      http('x', ['z'], { on_error: 'branch', error_node: 'e' }),
      http('y', ['z']),
      http('z', [], { join: 'any' }),
      http('e'),
    ];
    const body = bodyPlan(compiled(drawing(nodes)).plan, 0);
    assert.deepEqual(body.ids, ['a', 'x', 'y', 'z', 'e']);
    assert.deepEqual([body.caught, body.joinsAny], [{ 1: 1000 }, [3]]);
  });

  it('takes the drawn edges of a loop by their handle', () => {
    const nodes = [each('a', undefined), http('x'), http('end')];
    delete (nodes[0] as { data: { next_nodes?: unknown } }).data.next_nodes;
    const { plan } = compiled(drawing(nodes, [edge('a', 'x', 'body'), edge('a', 'end')]));
    assert.deepEqual([plan.ids, plan.bodies], [['a', 'end', 'x'], { 0: { first: 2, end: 3 } }]);
  });

  const leaks: [title: string, nodes: unknown[], codes: string[]][] = [
    ['a link out of a body', [each('a', 'x', ['end']), http('x', ['end']), http('end')], ['x scope_leak']],
    [
      'a link into a body',
      [trigger('t', ['a', 'o']), each('a', 'x', [], {}), http('o', ['y']), http('x', ['y']), http('y')],
      ['x scope_leak'],
    ],
    ['a body that two loops share', [each('a', 'x', ['b']), each('b', 'x'), http('x')], ['b scope_leak']],
    ['a node that follows its loop, and is its body', [each('a', 'x', ['x']), http('x')], ['a scope_leak']],
    ['a body that leads back to its loop', [each('a', 'x'), http('x', ['a'])], ['a cycle']],
  ];
  for (const [title, nodes, codes] of leaks) {
    it(`is none for ${title}`, () => assert.deepEqual(codesOf(drawing(nodes)), codes));
  }

  it('is none for loops that are nested deeper than five', () => {
    const deep = (depth: number) =>
      drawing([...Array.from({ length: depth }, (_, at) => each(`l${at}`, `l${at + 1}`)), http(`l${depth}`)]);
    compiled(deep(5));
    assert.deepEqual(codesOf(deep(6)), ['l5 too_deep']);
    const ids = Array.from({ length: 4 }, (_, at) => `${at}${'質'.repeat(199)}`);
    const long = ids.slice(0, 3).map((id, at) => each(id, ids[at + 1]));
    assert.deepEqual(codesOf(drawing([...long, http(ids[3]!)])), [`${ids[2]} invalid_node_id`]);
    compiled(drawing([...long.slice(1), http(ids[3]!)]));
    const nodes = deep(4_999)['nodes'] as unknown[];
    assert.deepEqual(codesOf(drawing(nodes)), ['l5 too_deep']);
  });
});

describe('a loop that is checked', () => {
  it('needs an output where its body has not one last node', () => {
    const two = [each('a', ['x', 'y']), http('x'), http('y')];
    assert.deepEqual(errorsOf(drawing(two)), { a: [{ output: 'Field required, because the body has 2 last nodes' }] });
    assert.deepEqual(errorsOf(drawing([each('a', undefined)])), {
      a: [{ output: 'Field required, because the loop has no body' }],
    });
    assert.deepEqual(errorsOf(drawing([each('a', undefined, [], { output: '{{ a.item }}' })])), {});
    const branches = [rounds('a', 'c'), condition('c', { true_node: 'x', false_node: 'y' }), http('x'), http('y')];
    assert.deepEqual(Object.keys(errorsOf(drawing(branches))), ['a']);
  });

  it('names what is wrong of each field', () => {
    const wrong = { items: '', concurrency: 21, max_items: 0, on_item_error: null, output: 1 };
    const [errors] = Object.values(errorsOf(drawing([each('a', 'x', [], wrong), http('x')])));
    assert.deepEqual(errors!.flatMap((error) => Object.keys(error)).toSorted(), [
      'concurrency',
      'items',
      'max_items',
      'on_item_error',
    ]);
    const loop = { max_rounds: 1_001, on_limit: 'stop', until: { left: '1', operator: '~', right: '1' } };
    const [others] = Object.values(errorsOf(drawing([rounds('a', 'x', loop), http('x')])));
    assert.deepEqual(others!.flatMap((error) => Object.keys(error)).toSorted(), [
      'max_rounds',
      'on_limit',
      'until.operator',
    ]);
  });

  it('warns of items that are read from outside, and of what a loop does not have', () => {
    const text = '{{ a.item }} {{ a.index }} {{ a.last }} {{ x.result.content }} {{ t.result.content }}';
    const nodes = [trigger('t', ['a']), each('a', 'x', ['end']), llm('x', text), llm('end', text)];
    const data = drawing(nodes);
    const { document, plan } = compiled(data);
    const found = findWarnings(data, document, plan, 365).map(({ node_id: id, message }) => `${id} ${message}`);
    assert.deepEqual(found, [
      'x The variable {{ a.last }} is not known: that loop has no last.',
      'x The variable {{ x.result.content }} is not known: that node does not run before this one.',
      'end The variable {{ a.item }} is not known: this node is not in the body of that loop.',
      'end The variable {{ a.index }} is not known: this node is not in the body of that loop.',
      'end The variable {{ a.last }} is not known: this node is not in the body of that loop.',
      'end The variable {{ x.result.content }} is not known: that node does not run before this one.',
    ]);
  });
});

describe('the path of an iteration', () => {
  it('names each loop around with its index', () => {
    assert.equal(iterationPath('', 'a', 3), 'a[3]');
    assert.equal(iterationPath('a[3]', 'b', 0), 'a[3]/b[0]');
    assert.equal(indexOfPath('a[3]/b[12]'), 12);
  });

  it('is cut at the loops around a node, whose ids may hold anything', () => {
    assert.equal(scopeOfPath('a[3]/b[0]', []), '');
    assert.equal(scopeOfPath('a[3]/b[0]', ['a']), 'a[3]');
    assert.equal(scopeOfPath('a[3]/b[0]', ['a', 'b']), 'a[3]/b[0]');
    assert.equal(scopeOfPath('a[3]/b[0]', ['b']), undefined);
    assert.equal(scopeOfPath('a[3]', ['a', 'b']), undefined);
    assert.equal(scopeOfPath('', ['a']), undefined);
    assert.equal(scopeOfPath('x%2Fy%5B[1]/b[0]', ['x/y[', 'b']), 'x%2Fy%5B[1]/b[0]');
  });

  it('is that of the loop that a variable names, by its first word', () => {
    assert.deepEqual(parseVariable('L.item'), { source: 'loop', nodeId: 'L', path: ['item'] });
    assert.deepEqual(parseVariable('L.item.result[0]'), { source: 'loop', nodeId: 'L', path: ['item', 'result', 0] });
    assert.deepEqual(parseVariable('L.result.item'), { source: 'node', nodeId: 'L', path: ['item'] });
    assert.deepEqual(parseVariable('L.items'), undefined);
    assert.deepEqual(parseVariable('.item'), undefined);
  });
});
