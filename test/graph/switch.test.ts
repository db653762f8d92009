import assert from 'node:assert/strict';
import { compilePlan } from '../../graph/compile-plan.js';
import { switchNode } from '../../graph/nodes/switch.js';
import { ERROR_HANDLE } from '../../graph/plan.js';
import { validateNodes } from '../../graph/validate.js';
import { drawing, edge, http } from './drawings.js';
import { judgeHere } from './judge-here.js';

const values = { input: { tier: 'gold', amount: 12 }, results: new Map() };

function asks(id: string, left: string, operator: string, right: string, node?: string) {
  return { id, condition: { left, operator, right }, ...(node !== undefined && { node }) };
}

function switchTo(id: string, data: Record<string, unknown>) {
  return { id, type: 'switch-node', data };
}

const cases = [
  asks('silver', '{{ input.tier }}', '==', 'silver', 'a'),
  asks('gold', '{{ input.tier }}', '==', 'gold', 'b'),
  asks('large', '{{ input.amount }}', '>', '10', 'c'),
];

describe('a switch', () => {
  it('takes the first case that holds', async () => {
    assert.deepEqual(await switchNode.evaluate({ cases }, values, judgeHere), {
      output: { content: 'gold', cases: ['gold'] },
      handle: 101,
    });
  });

  it('takes every case that holds, where it says so', async () => {
    assert.deepEqual(await switchNode.evaluate({ cases, mode: 'all' }, values, judgeHere), {
      output: { content: '["gold","large"]', cases: ['gold', 'large'] },
      handle: 101,
      alsoHandles: [102],
    });
  });

  it('takes the default where no case holds', async () => {
    const none = [asks('silver', '{{ input.tier }}', '==', 'silver')];
    assert.deepEqual(await switchNode.evaluate({ cases: none }, values, judgeHere), {
      output: { content: 'default', cases: [] },
      handle: 1,
    });
    assert.deepEqual(await switchNode.evaluate({ cases: none, mode: 'all' }, values, judgeHere), {
      output: { content: '[]', cases: [] },
      handle: 1,
    });
  });

  it('fails for a pattern that nobody checked before the run, if it reaches it', async () => {
    const broken = asks('broken', 'a', 'matches', '(');
    const { output } = await switchNode.evaluate({ cases: [...cases, broken] }, values, judgeHere);
    assert.equal(output.content, 'gold');
    await assert.rejects(async () => switchNode.evaluate({ cases: [broken, ...cases] }, values, judgeHere), {
      code: 'invalid_pattern',
    });
  });

  it('leads by its own targets, else by edges with the id of the case, and after a failure by the error link', () => {
    const asked = [cases[0]!, { ...cases[1]!, node: null }];
    const node = switchTo('s', { cases: asked, default_node: 'c', on_error: 'branch', error_node: 'd' });
    const compiled = compilePlan(
      drawing([node, http('a'), http('b'), http('c'), http('d')], [edge('s', 'b', 'gold'), edge('s', 'a', 'default')]),
    );
    assert.ok(compiled.ok, JSON.stringify(compiled));
    const { ids, out, caught } = compiled.plan;
    const leads = Object.fromEntries(out[0]!.map(([to, handle]) => [ids[to]!, handle]));
    assert.deepEqual(leads, { a: 100, b: 101, c: 1, d: ERROR_HANDLE });
    assert.deepEqual(caught, { 0: ERROR_HANDLE });
  });

  it('names the cases that cannot be told apart, and what a case lacks', () => {
    const wrong = [
      cases[0]!,
      cases[0]!,
      { ...cases[1]!, id: 'default' },
      { ...cases[2]!, id: 'error' },
      { id: 'x' },
      { ...cases[2]!, id: 'timeout' },
    ];
    const data = drawing([switchTo('s', { cases: wrong }), http('a'), http('b'), http('c')]);
    const compiled = compilePlan(data);
    assert.ok(compiled.ok, JSON.stringify(compiled));
    const errors = validateNodes(compiled.document, compiled.plan)['s']!;
    const fields = errors.flatMap((error) => Object.keys(error)).toSorted();
    assert.deepEqual(
      fields,
      ['cases.1.id', 'cases.2.id', 'cases.3.id', 'cases.4.condition', 'cases.5.id'],
      JSON.stringify(errors),
    );
  });

  it('has one to fifty cases, whatever a hostile drawing lists', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => asks(`c${index}`, '1', '==', '1', 'a'));
    for (const listed of [[], many.slice(0, 51), many, 'none', null]) {
      const compiled = compilePlan(drawing([switchTo('s', { cases: listed }), http('a')]));
      assert.ok(compiled.ok, 'the drawing compiles');
      const errors = validateNodes(compiled.document, compiled.plan)['s'];
      assert.deepEqual(
        errors?.map((error) => Object.keys(error)[0]),
        ['cases'],
        JSON.stringify(errors).slice(0, 200),
      );
    }
  });
});
