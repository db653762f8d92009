import assert from 'node:assert/strict';
import type { NodeKind } from '../../graph/kinds.js';
import type { Plan } from '../../graph/plan.js';
import { Planner } from '../../graph/planner.js';
import { StretchPlan } from '../../graph/stretch-plan.js';
import { mayStartTogether, stretchFrom, stretchInPool, type Stretch, type Stride } from '../../graph/stretch.js';

/** The kind of a node and the nodes that follow it: their numbers, or for a condition `[number, handle]`. */
type Drawn = [kind: NodeKind, ...next: (number | [number, number])[]];

function toPlan(drawn: Drawn[], more: Partial<Plan> = {}): Plan {
  const out = drawn.map(([, ...next]) => next.map((to): [number, number] => (typeof to === 'number' ? [to, 0] : to)));
  const indegree = drawn.map((_, node) => out.flat().filter(([to]) => to === node).length);
  const ids = drawn.map((_, node) => `n${node}`);
  return { ids, kinds: drawn.map(([kind]) => kind), labels: ids, out, indegree, ...more };
}

/** The planner of a run in which the trigger and the nodes `ended` have succeeded. */
function plannerAfter(plan: Plan, ...ended: number[]): Planner {
  const planner = new Planner(plan);
  for (const node of [0, ...ended]) {
    planner.markRunning(node);
    planner.succeed(node, 0);
  }
  return planner;
}

function stretchOf(plan: Plan, planner: Planner, firsts: number[], stride: Stride): Stretch {
  for (const node of firsts) planner.markRunning(node);
  return stretchFrom(plan, planner, firsts, stride);
}

describe('a stretch', () => {
  it('goes on from a request through nodes that leave no process, to the next that does', () => {
    const plan = toPlan([['trigger', 1], ['http', 2], ['set', 3], ['condition', [4, 1], [5, 2]], ['http'], ['output']]);
    assert.deepEqual(stretchOf(plan, plannerAfter(plan), [1], 'visible').nodes.slice(0, 4), [1, 2, 3, 4]);
    const inRow = toPlan([['trigger', 1], ['http', 2], ['set', 3], ['http']]);
    assert.deepEqual(stretchOf(inRow, plannerAfter(inRow), [1], 'visible'), { nodes: [1, 2] });
    assert.deepEqual(stretchOf(inRow, plannerAfter(inRow), [1], 'dense'), { nodes: [1, 2, 3], isRest: true });
  });

  it('ends before a model call in either execution, and is the rest of the run behind it', () => {
    const plan = toPlan([['trigger', 1], ['http', 2], ['llm', 3], ['http']]);
    const planner = plannerAfter(plan);
    assert.deepEqual(stretchOf(plan, planner, [1], 'dense'), { nodes: [1] });
    planner.succeed(1, 0);
    assert.deepEqual(stretchOf(plan, planner, [2], 'dense'), { nodes: [2, 3], isRest: true });
  });

  it('leaves out what waits for a node outside, and tells which links have been taken', () => {
    const plan = toPlan([['trigger', 1, 2], ['http', 3], ['http', 3], ['set', 4], ['output']]);
    const planner = plannerAfter(plan);
    assert.deepEqual(stretchOf(plan, planner, [1], 'visible'), { nodes: [1] });
    const other = stretchOf(plan, planner, [2], 'visible');
    assert.deepEqual(other, { nodes: [2] }, 'each waits for the other');
    planner.succeed(1, 0);
    assert.deepEqual(stretchFrom(plan, planner, [2], 'visible'), { nodes: [2, 3, 4], live: [3], isRest: true });
  });

  it('holds what a decision may skip, where the scope ends with it', () => {
    const plan = toPlan([['trigger', 1], ['http', 2], ['condition', [3, 1], [4, 2]], ['llm'], ['output']]);
    const stretch = stretchOf(plan, plannerAfter(plan), [1], 'visible');
    assert.deepEqual(stretch, { nodes: [1, 2, 3, 4], isRest: true });
    const walk = new StretchPlan(plan, stretch);
    const settle = (place: number, handle: number): void => {
      walk.planner.markRunning(place);
      walk.planner.succeed(place, handle);
    };
    settle(0, 0);
    assert.deepEqual(walk.next('visible'), [1]);
    settle(1, 2);
    assert.deepEqual(walk.next('visible'), [3], 'the model call is skipped');
    settle(3, 0);
    assert.equal(walk.planner.open, 0);
  });

  it('has at most fifty nodes', () => {
    const drawn = Array.from({ length: 80 }, (_, node): Drawn => (node === 79 ? ['set'] : ['set', node + 1]));
    const plan = toPlan([['trigger', 1], ...drawn.slice(1)]);
    assert.equal(stretchOf(plan, plannerAfter(plan), [1], 'visible').nodes.length, 50);
  });
});

describe('a walk', () => {
  it('begins no request while a node outside has something to learn', () => {
    // The first request is followed by a second one and by a model call, which must not wait for the second request.
    const plan = toPlan([['trigger', 1], ['http', 2, 3], ['http'], ['llm']]);
    const stretch = stretchOf(plan, plannerAfter(plan), [1], 'dense');
    const walk = new StretchPlan(plan, stretch);
    walk.planner.markRunning(0);
    walk.planner.succeed(0, 0);
    assert.deepEqual(walk.next('dense'), []);
  });

  it('begins no request after a node that is to be attempted again, but decides what it can', () => {
    const plan = toPlan([['trigger', 1], ['http', 2, 3], ['http', 4], ['set', 4], ['output']]);
    const walk = new StretchPlan(plan, stretchOf(plan, plannerAfter(plan), [1], 'dense'));
    walk.planner.markRunning(0);
    walk.planner.succeed(0, 0);
    const placeOf = (node: number): number => [0, 1, 2, 3].find((place) => walk.numberOf(place) === node)!;
    assert.deepEqual(walk.next('dense', true), [placeOf(3)]);
    walk.planner.markRunning(placeOf(3));
    walk.planner.succeed(placeOf(3), 0);
    assert.deepEqual([walk.next('dense', true), walk.next('dense')], [[], [placeOf(2)]]);
  });

  it('ends where the pool changes, although the scope ends with the nodes behind it', () => {
    const drawn: Drawn[] = [['trigger', 1], ['http', 2], ['condition', [3, 1], [4, 2]], ['http'], ['http']];
    const plan = toPlan(drawn, { pools: { 3: 'far' } });
    const stretch = stretchOf(plan, plannerAfter(plan), [1], 'dense');
    assert.equal(stretch.isRest, true);
    const walk = new StretchPlan(plan, stretch);
    const ended = (place: number, handle: number): void => {
      walk.planner.markRunning(place);
      walk.planner.succeed(place, handle);
    };
    ended(0, 0);
    assert.deepEqual(
      walk.next('dense').map((place) => walk.numberOf(place)),
      [2],
    );
    ended(1, 1);
    assert.deepEqual(walk.next('dense'), [], 'the request of the other pool is ready, and not executed here');
  });

  it('decides nothing in another pool than the default one, and does not end its scope there', () => {
    const drawn: Drawn[] = [['trigger', 1], ['http', 2], ['http', 3], ['set', 4], ['http']];
    const plan = toPlan(drawn, { pools: { 1: 'far', 2: 'far', 4: 'far' } });
    const planner = plannerAfter(plan);
    planner.markRunning(1);
    assert.deepEqual(stretchInPool(plan, planner, [1], 'dense'), { nodes: [1, 2] });
    assert.deepEqual(stretchInPool(plan, planner, [1], 'visible'), { nodes: [1] });
    const last = toPlan([['trigger', 1], ['http']]);
    const whole = plannerAfter(last);
    whole.markRunning(1);
    assert.deepEqual(stretchInPool(last, whole, [1], 'dense'), { nodes: [1] });
  });

  it('begins requests together only in one pool, and with one limit of waiting for a worker', () => {
    const drawn: Drawn[] = [['trigger', 1, 2], ['http', 3], ['http', 3], ['http']];
    const far = { 1: 'far', 2: 'far' };
    assert.equal(mayStartTogether('dense', toPlan(drawn, { pools: far }), 1, 2), true);
    assert.equal(mayStartTogether('dense', toPlan(drawn, { pools: { 1: 'far' } }), 1, 2), false);
    assert.equal(mayStartTogether('dense', toPlan(drawn, { takeWithin: { 2: 5 } }), 1, 2), false);
  });

  it('begins requests together only if the same node follows all of them, which waits for all', () => {
    const joined = toPlan([['trigger', 1, 2], ['http', 3], ['http', 3], ['http']]);
    assert.equal(mayStartTogether('dense', joined, 1, 2), true);
    assert.equal(mayStartTogether('visible', joined, 1, 2), false);
    assert.equal(mayStartTogether('dense', { ...joined, joinsAny: [3] }, 1, 2), false);
    const apart = toPlan([['trigger', 1, 2], ['http', 3], ['http', 4], ['http'], ['http']]);
    assert.equal(mayStartTogether('dense', apart, 1, 2), false);
    const ends = toPlan([['trigger', 1, 2, 3], ['http'], ['http'], ['set']]);
    assert.equal(mayStartTogether('dense', ends, 1, 2), true);
    assert.equal(mayStartTogether('dense', ends, 1, 3), false);
  });
});
