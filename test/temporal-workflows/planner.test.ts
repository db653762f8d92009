import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Handle, Plan } from '../../graph/plan.js';
import { NodeState, Planner } from '../../temporal-workflows/planner.js';

interface Case {
  plan: Plan;
  /** The way that each condition takes. */
  branches: Handle[];
  /** Which running node finishes next, and where the planner is rebuilt from its snapshot. */
  picks: number[];
  resumes: boolean[];
}

function toPlan(size: number, edges: [from: number, to: number, branch: Handle][], conditions: boolean[]): Plan {
  const out: Plan['out'] = Array.from({ length: size }, () => []);
  const indegree = new Array<number>(size).fill(0);
  for (const [from, to, branch] of edges) {
    out[from]!.push([to, conditions[from] ? branch : 0]);
    indegree[to]!++;
  }
  return {
    ids: Array.from({ length: size }, (_, node) => `node-${node}`),
    kinds: conditions.map((isCondition) => (isCondition ? 'condition' : 'http')),
    labels: Array.from({ length: size }, (_, node) => `Node ${node}`),
    out,
    indegree,
  };
}

/** Acyclic (edges lead to higher numbers), every node reachable from 0 (a spanning edge each), some edges doubled. */
const cases: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 24 }).chain((size) =>
  fc
    .record({
      parents: fc.array(fc.nat(1000), { minLength: size, maxLength: size }),
      extra: fc.array(fc.tuple(fc.nat(1000), fc.nat(1000), fc.constantFrom<Handle>(1, 2)), { maxLength: 40 }),
      spanning: fc.array(fc.constantFrom<Handle>(1, 2), { minLength: size, maxLength: size }),
      conditions: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
      branches: fc.array(fc.constantFrom<Handle>(1, 2), { minLength: size, maxLength: size }),
      picks: fc.array(fc.nat(1000), { minLength: size, maxLength: size }),
      resumes: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
    })
    .map(({ parents, extra, spanning, conditions, branches, picks, resumes }) => {
      const edges: [number, number, Handle][] = [];
      for (let node = 1; node < size; node++) edges.push([parents[node]! % node, node, spanning[node]!]);
      for (const [a, b, branch] of extra) {
        const [from, to] = [Math.min(a % size, b % size), Math.max(a % size, b % size)];
        if (from !== to) edges.push([from, to, branch]);
      }
      const taken = branches.map((branch, node): Handle => (conditions[node] ? branch : 0));
      return { plan: toPlan(size, edges, conditions), branches: taken, picks, resumes };
    }),
);

/** Independent of the planner: nodes in topological (= numeric) order; one runs iff a live edge leads to it. */
function oracle({ plan, branches }: Case): Set<number> {
  const executed = new Set([0]);
  for (let node = 0; node < plan.ids.length; node++) {
    if (!executed.has(node)) continue;
    for (const [to, branch] of plan.out[node]!) if (branch === 0 || branch === branches[node]) executed.add(to);
  }
  return executed;
}

function predecessors(plan: Plan, node: number): number[] {
  return plan.out.flatMap((edges, from) => (edges.some(([to]) => to === node) ? [from] : []));
}

function takeAll(planner: Planner): number[] {
  const nodes: number[] = [];
  for (let node = planner.take(); node !== undefined; node = planner.take()) nodes.push(node);
  return nodes;
}

describe('planner', () => {
  it('executes exactly the nodes that a live edge reaches, each once, after all before it have settled', () => {
    fc.assert(
      fc.property(cases, (sample) => {
        const planner = new Planner(sample.plan);
        const executed: number[] = [];
        const running: number[] = [];
        for (let step = 0; ; step++) {
          for (const node of takeAll(planner)) {
            for (const before of predecessors(sample.plan, node)) {
              const state = Number(planner.states()[before]);
              assert.ok(state === NodeState.succeeded || state === NodeState.skipped, `${node} before ${before}`);
            }
            running.push(node);
          }
          if (running.length === 0) break;
          const [node] = running.splice(sample.picks[step]! % running.length, 1);
          executed.push(node!);
          planner.succeed(node!, sample.branches[node!]!);
        }
        assert.equal(planner.open, 0);
        assert.equal(planner.succeeded, executed.length);
        assert.equal(new Set(executed).size, executed.length, 'no node twice');
        assert.deepEqual(new Set(executed), oracle(sample));
      }),
      { numRuns: 4000 },
    );
  });

  it('goes on from a snapshot as if nothing had happened', () => {
    fc.assert(
      fc.property(cases, (sample) => {
        let planner = new Planner(sample.plan);
        const executed = new Set<number>();
        for (let step = 0; ; step++) {
          const node = planner.take();
          if (node === undefined) break;
          executed.add(node);
          planner.succeed(node, sample.branches[node]!);
          if (sample.resumes[step]) {
            const stored = JSON.parse(JSON.stringify(planner.snapshot())) as ReturnType<Planner['snapshot']>;
            const resumed = new Planner(sample.plan, stored);
            assert.equal(resumed.open, planner.open);
            assert.equal(resumed.succeeded, planner.succeeded);
            planner = resumed;
          }
        }
        assert.equal(planner.open, 0);
        assert.deepEqual(executed, oracle(sample));
      }),
      { numRuns: 1000 },
    );
  });

  it('runs a join of two live branches once, after both', () => {
    const planner = new Planner(
      toPlan(
        4,
        [
          [0, 1, 1],
          [0, 2, 1],
          [1, 3, 1],
          [2, 3, 1],
        ],
        [false, false, false, false],
      ),
    );
    planner.succeed(planner.take()!, 0);
    assert.deepEqual(takeAll(planner), [1, 2]);
    planner.succeed(2, 0);
    assert.deepEqual(takeAll(planner), []);
    planner.succeed(1, 0);
    assert.deepEqual(takeAll(planner), [3]);
  });

  it('does not wait at a join for a branch that was not taken', () => {
    const planner = new Planner(
      toPlan(
        4,
        [
          [0, 1, 1],
          [0, 2, 2],
          [1, 3, 1],
          [2, 3, 1],
        ],
        [true, false, false, false],
      ),
    );
    planner.succeed(planner.take()!, 2);
    assert.deepEqual(takeAll(planner), [2]);
    planner.succeed(2, 0);
    assert.deepEqual(takeAll(planner), [3]);
    assert.equal(planner.states()[1], String(NodeState.skipped));
  });

  it('runs a node once to which both handles of a condition lead', () => {
    const planner = new Planner(
      toPlan(
        2,
        [
          [0, 1, 1],
          [0, 1, 2],
        ],
        [true, false],
      ),
    );
    planner.succeed(planner.take()!, 1);
    assert.deepEqual(takeAll(planner), [1]);
  });

  it('settles a dead path of 50,000 nodes without recursion', () => {
    const size = 50_000;
    const edges: [number, number, Handle][] = [];
    for (let node = 1; node < size; node++) edges.push([node - 1, node, 1]);
    const planner = new Planner(toPlan(size, edges, [true, ...new Array<boolean>(size - 1).fill(false)]));
    planner.succeed(planner.take()!, 2);
    assert.equal(planner.open, 0);
  });

  it('leaves the followers of a failed node alone and closes them as cancelled', () => {
    const planner = new Planner(
      toPlan(
        3,
        [
          [0, 1, 1],
          [1, 2, 1],
        ],
        [false, false, false],
      ),
    );
    planner.succeed(planner.take()!, 0);
    planner.fail(planner.take()!);
    assert.equal(planner.take(), undefined);
    planner.cancelOpen();
    assert.equal(planner.states(), `${NodeState.succeeded}${NodeState.failed}${NodeState.cancelled}`);
  });

  it('refuses to settle a node twice', () => {
    const planner = new Planner(toPlan(1, [], [false]));
    planner.succeed(planner.take()!, 0);
    assert.throws(() => planner.succeed(0, 0), /settled twice/);
  });
});
