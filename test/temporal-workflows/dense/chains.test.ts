import assert from 'node:assert/strict';
import type { Placement } from '../../../graph/dense/placement.js';
import type { NodeKind } from '../../../graph/kinds.js';
import type { Handle, Plan } from '../../../graph/plan.js';
import {
  beginsLocally,
  chainAfter,
  groupConcurrent,
  lengthOf,
  summaryOf,
  type Chain,
  type DensePlan,
} from '../../../temporal-workflows/dense/chains.js';
import { Planner } from '../../../temporal-workflows/planner.js';

const PLACEMENTS: Record<string, Placement> = { o: 'own', l: 'local', s: 'shared' };

/** One letter a node: own, local, shared. Nodes beyond the text have their own activity. */
function placed(plan: Plan, letters: string): DensePlan {
  return { plan, placements: plan.ids.map((_, node) => PLACEMENTS[letters.charAt(node)] ?? 'own') };
}

/** Kinds by node number, and edges. */
function planOf(kinds: NodeKind[], edges: [from: number, to: number, branch?: Handle][]): Plan {
  const out: Plan['out'] = kinds.map(() => []);
  const indegree = kinds.map(() => 0);
  for (const [from, to, branch = 0] of edges) {
    out[from]!.push([to, branch]);
    indegree[to]!++;
  }
  return { kinds, out, indegree, ids: kinds.map((_, node) => `id-${node}`), labels: kinds.map(String) };
}

const chain = (size: number): [number, number][] => Array.from({ length: size - 1 }, (_, node) => [node, node + 1]);

const chainIn = (plan: Plan, letters: string, ...rest: [node: number, isLocal: boolean, concurrent?: number]): Chain =>
  chainAfter(placed(plan, letters), ...rest);
const followersOf = (...of: Parameters<typeof chainIn>): number[] => chainIn(...of).nodes;
const groupsIn = (plan: Plan, letters: string, ready: number[]): number[][] =>
  groupConcurrent(placed(plan, letters), ready);
const beginsIn = (plan: Plan, letters: string, node: number): boolean => beginsLocally(placed(plan, letters), node);
/** Settles `node`, and takes the node after it. */
function pass(planner: Planner, node: number, handle: Handle): number {
  planner.succeed(node, handle);
  return planner.takeLast();
}

describe('nodes that share an activity', () => {
  it('are all quick ones of a row, whatever began it', () => {
    const plan = planOf(['trigger', 'http', 'http', 'mcp'], chain(4));
    assert.deepEqual(followersOf(plan, 'olll', 0, true), [1, 2, 3]);
    assert.deepEqual(followersOf(plan, 'ooll', 1, false), [2, 3], 'after a normal one too');
    assert.deepEqual(followersOf(plan, 'olll', 3, true), []);
  });

  it('end before a node that is not placed locally, agents and models among them', () => {
    const plan = planOf(['trigger', 'http', 'http', 'llm', 'agent'], chain(5));
    assert.deepEqual(followersOf(plan, 'olooo', 0, true), [1]);
    assert.deepEqual(followersOf(plan, 'olloo', 0, true), [1, 2]);
    assert.deepEqual(followersOf(plan, '', 0, true), []);
  });

  it('are in a normal activity also those that may share one', () => {
    const plan = planOf(['trigger', 'http', 'mcp', 'http', 'http', 'llm'], chain(6));
    assert.deepEqual(followersOf(plan, 'osslso', 1, false), [2, 3, 4]);
    assert.deepEqual(followersOf(plan, 'olslso', 1, true), [], 'in a local one they are not');
    assert.deepEqual(followersOf(plan, 'osolso', 1, false), [], 'one that has its own');
    assert.deepEqual(followersOf(plan, 'ossoso', 3, false), [4], 'begins it for others');
  });

  it('are with the trigger wherever the first of them begins', () => {
    const [http, llm, agent] = (['http', 'llm', 'agent'] as const).map((kind) =>
      planOf(['trigger', kind, 'http'], chain(3)),
    );
    assert.deepEqual([beginsIn(http!, 'oll', 0), followersOf(http!, 'oll', 0, true)], [true, [1, 2]]);
    assert.deepEqual([beginsIn(http!, 'oss', 0), followersOf(http!, 'oss', 0, false)], [false, [1, 2]]);
    assert.deepEqual([beginsIn(http!, 'ooo', 0), followersOf(http!, 'ooo', 0, true)], [true, []]);
    assert.deepEqual([beginsIn(llm!, 'oos', 0), followersOf(llm!, 'oos', 0, true)], [true, []]);
    assert.deepEqual([beginsIn(agent!, 'oos', 0), followersOf(agent!, 'oos', 0, true)], [true, []]);
    const divides = planOf(
      ['trigger', 'http', 'http'],
      [
        [0, 1],
        [0, 2],
      ],
    );
    assert.deepEqual([beginsIn(divides, 'oss', 0), followersOf(divides, 'oss', 0, true)], [true, []]);
    assert.equal(beginsIn(planOf(['trigger'], []), 'o', 0), true);
  });

  it('are after a condition those of the way that it takes', () => {
    const kinds: NodeKind[] = ['trigger', 'http', 'condition', 'http', 'http', 'condition', 'http'];
    const plan = planOf(kinds, [...chain(3), [2, 3, 1], [2, 4, 2], [4, 5], [5, 6, 2]]);
    const whole = {
      nodes: [1, 2],
      forks: [{ nodes: [3] }, { nodes: [4, 5], forks: [{ nodes: [] }, { nodes: [6] }] }],
    };
    assert.deepEqual(chainIn(plan, 'osossos', 0, false), whole);
    assert.equal(lengthOf(chainIn(plan, 'osossos', 0, false)), 6);
    assert.deepEqual(chainIn(plan, 'oloslol', 0, true).forks, [
      { nodes: [] },
      { nodes: [4, 5], forks: [{ nodes: [] }, { nodes: [6] }] },
    ]);
    assert.deepEqual(chainIn(plan, 'ooossos', 2, true), { nodes: [] }, 'a local one does only what is quick');
    assert.deepEqual(chainIn(plan, 'ooooooo', 1, false), { nodes: [2] });
  });

  it('end at a condition where anything after it waits for several, near or far', () => {
    const joins = planOf(
      ['trigger', 'condition', 'http', 'http', 'http'],
      [
        [0, 1],
        [1, 2, 1],
        [1, 3, 2],
        [2, 4],
        [3, 4],
      ],
    );
    assert.deepEqual(chainIn(joins, 'ossss', 0, true), { nodes: [1] });
    const two = planOf(
      ['trigger', 'condition', 'http', 'http'],
      [
        [0, 1],
        [1, 2, 1],
        [1, 3, 1],
      ],
    );
    assert.deepEqual(chainIn(two, 'olll', 0, true), { nodes: [1] }, 'a way that divides');
    const far: [number, number, Handle?][] = [[0, 1], [1, 2, 1], ...chain(300).slice(2)];
    const long = planOf(['trigger', 'condition', ...new Array<NodeKind>(298).fill('http')], far);
    assert.deepEqual(chainIn(long, 'l'.repeat(300), 0, true), { nodes: [1] }, 'it is not looked at any further');
  });

  it('of all ways are so many at most', () => {
    // A condition after each condition: each way of each is one.
    const size = 150;
    const edges = Array.from({ length: size - 1 }, (_, index): [number, number, Handle] => [
      Math.floor(index / 2),
      index + 1,
      index % 2 === 0 ? 1 : 2,
    ]);
    const plan = planOf(new Array<NodeKind>(size).fill('condition'), edges);
    assert.equal(lengthOf(chainIn(plan, 'o'.repeat(size), 0, true)), 50);
  });

  it('include a condition, placed or not', () => {
    const plan = planOf(['trigger', 'http', 'condition', 'http'], [...chain(3), [2, 3, 1]]);
    assert.deepEqual(followersOf(plan, 'oloo', 0, true), [1, 2]);
    assert.deepEqual(followersOf(plan, 'oooo', 1, true), [2]);
    assert.deepEqual(followersOf(plan, 'oloo', 2, true), []);
  });

  it('end where the graph divides, and before what waits for several', () => {
    const divides = planOf(
      ['trigger', 'http', 'http', 'http'],
      [
        [0, 1],
        [1, 2],
        [1, 3],
      ],
    );
    assert.deepEqual(followersOf(divides, 'olll', 0, true), [1]);
    const joins = planOf(
      ['trigger', 'http', 'http', 'http'],
      [
        [0, 1],
        [0, 2],
        [1, 3],
        [2, 3],
      ],
    );
    assert.deepEqual(followersOf(joins, 'olll', 0, true), []);
    assert.deepEqual(followersOf(joins, 'olll', 1, true), []);
    const twice = planOf(
      ['trigger', 'http'],
      [
        [0, 1],
        [0, 1],
      ],
    );
    assert.deepEqual(followersOf(twice, 'ol', 0, true), []);
  });

  it('are so many at most, and the next of them begins a row of its own', () => {
    const size = 120;
    const plan = planOf(['trigger', ...new Array<NodeKind>(size - 1).fill('http')], chain(size));
    const local = `o${'l'.repeat(size - 1)}`;
    assert.equal(followersOf(plan, local, 0, true).length, 50);
    assert.deepEqual(followersOf(plan, local, 0, true).at(-1), 50);
    assert.deepEqual(followersOf(plan, local, 51, true)[0], 52);
  });

  it('are passed one after the other, and those beside them keep their turns', () => {
    const plan = planOf(
      ['trigger', 'http', 'http', 'http', 'http'],
      [
        [0, 1],
        [0, 2],
        [1, 3],
        [3, 4],
      ],
    );
    const planner = new Planner(plan);
    planner.succeed(planner.take()!, 0);
    assert.equal(planner.take(), 1);
    assert.equal(pass(planner, 1, 0), 3);
    assert.equal(planner.states(), '33120');
    assert.equal(planner.take(), 2, 'ready since before');
    assert.equal(planner.take(), undefined, 'the one that was passed to has begun');
    assert.equal(pass(planner, 3, 0), 4);
    planner.succeed(4, 0);
    planner.succeed(2, 0);
    assert.deepEqual([planner.open, planner.succeeded, planner.states()], [0, 5, '33333']);
  });

  it('are passed through conditions, whose other ways are skipped', () => {
    const plan = planOf(
      ['trigger', 'http', 'condition', 'http', 'http', 'http'],
      [
        [0, 1],
        [0, 2],
        [2, 3, 1],
        [2, 4, 2],
        [4, 5],
      ],
    );
    const planner = new Planner(plan);
    planner.succeed(planner.take()!, 0);
    assert.deepEqual([planner.take(), planner.take()], [1, 2]);
    assert.equal(pass(planner, 2, 2), 4);
    assert.equal(pass(planner, 4, 0), 5);
    assert.equal(planner.states(), '323532');
    assert.equal(planner.take(), undefined);
    planner.succeed(5, 0);
    planner.succeed(1, 0);
    assert.equal(planner.open, 0);
  });

  it('are named for operators as far as the server takes it', () => {
    assert.equal(summaryOf(['Only']), 'Only');
    assert.equal(summaryOf(['Start', 'Ask', 'Judge']), 'Start → Ask → Judge');
    const long = Array.from({ length: 51 }, () => '漢'.repeat(60));
    assert.equal(summaryOf(long), `${long[0]} → ${long[1]} and 49 more`);
    const widest = [
      summaryOf(long),
      summaryOf(long.map(() => '𝄞'.repeat(60))),
      summaryOf(long.map(() => '\\#'.repeat(60))),
    ];
    for (const summary of widest) assert.ok(Buffer.byteLength(`${summary} (local)`) <= 400, summary);
  });

  it('are side by side those that may share one and have the same node after them, or none', () => {
    const kinds: NodeKind[] = ['trigger', 'http', 'mcp', 'http', 'llm', 'http', 'http', 'http'];
    const sides = [1, 2, 3, 4, 5];
    const joined = planOf(kinds, [
      ...sides.map((to): [number, number] => [0, to]),
      ...sides.map((from): [number, number] => [from, 6]),
      [6, 7],
    ]);
    assert.deepEqual(groupsIn(joined, 'osssosss', sides), [[1, 2, 3, 5], [4]]);
    assert.deepEqual(groupsIn(joined, 'olslolss', sides), [[1, 3, 5], [2], [4]], 'local ones by themselves');
    assert.deepEqual(groupsIn(joined, 'ososooss', sides), [[1, 3], [2], [4], [5]], 'one that has its own');
    assert.deepEqual(
      groupsIn(joined, '', sides),
      sides.map((node) => [node]),
    );
    const leaves = planOf(kinds, [...sides.map((to): [number, number] => [0, to]), [3, 6], [5, 6]]);
    assert.deepEqual(groupsIn(leaves, 'osssosss', sides), [[1, 2], [3, 5], [4]]);
    const apart = planOf(kinds, [...sides.map((to): [number, number] => [0, to]), [1, 6], [2, 7]]);
    assert.deepEqual(groupsIn(apart, 'osssosss', [1, 2]), [[1], [2]], 'something else follows each');
    const parting = planOf(kinds, [
      [0, 1],
      [0, 2],
      [1, 3],
      [1, 5],
      [2, 3],
      [2, 5],
    ]);
    assert.deepEqual(groupsIn(parting, 'osssosss', [1, 2]), [[1], [2]], 'more than one follows');
  });

  it('are side by side no more than one worker should have at once', () => {
    const plan = planOf(
      Array.from({ length: 24 }, () => 'http' as const),
      [],
    );
    const sizes = groupsIn(plan, 's'.repeat(24), [...plan.ids.keys()]).map(({ length }) => length);
    assert.deepEqual(sizes, [10, 10, 4]);
  });

  it('go on with what waits for all of those side by side, where it waits for nothing else', () => {
    const plan = planOf(
      ['trigger', 'http', 'http', 'http', 'condition', 'http'],
      [
        [0, 1],
        [0, 2],
        [1, 3],
        [2, 3],
        [3, 4],
        [4, 5, 1],
      ],
    );
    assert.deepEqual(chainIn(plan, 'osssos', 1, false, 2), { nodes: [3, 4], forks: [{ nodes: [5] }, { nodes: [] }] });
    assert.deepEqual(chainIn(plan, 'ossoos', 1, false, 2), { nodes: [] });
    assert.deepEqual(chainIn(plan, 'osssos', 1, false), { nodes: [] }, 'begun alone');
    assert.equal(summaryOf(['a', 'b', 'c', 'd'], 2), 'a ∥ b → c → d');
  });
});
