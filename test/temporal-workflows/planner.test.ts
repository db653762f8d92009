import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ERROR_HANDLE, type Handle, type Plan } from '../../graph/plan.js';
import { NodeState, Planner } from '../../temporal-workflows/planner.js';

interface Case {
  plan: Plan;
  /** The handles by which each node is left, if it does not fail. */
  taken: Handle[][];
  /** Whether the node fails, which the run survives. */
  fails: boolean[];
  /** Which running node finishes next, and where the planner is rebuilt from its snapshot. */
  picks: number[];
  resumes: boolean[];
}

type Edge = [from: number, to: number, handle: Handle];

function toPlan(size: number, edges: Edge[], more: Partial<Plan> = {}): Plan {
  const out: Plan['out'] = Array.from({ length: size }, () => []);
  const indegree = new Array<number>(size).fill(0);
  for (const [from, to, handle] of edges) {
    out[from]!.push([to, handle]);
    indegree[to]!++;
  }
  return {
    ids: Array.from({ length: size }, (_, node) => `node-${node}`),
    kinds: new Array<'http'>(size).fill('http'),
    labels: Array.from({ length: size }, (_, node) => `Node ${node}`),
    out,
    indegree,
    ...more,
  };
}

/** The shape of one node: which handles its links have, and which of them are taken. */
interface Shape {
  /** `plain` has ordinary links alone, `switch` two cases of which any number is taken. */
  kind: 'plain' | 'switch';
  taken: Handle[];
  onError: 'fail' | 'continue' | 'branch';
  fails: boolean;
  joinsAny: boolean;
}

const shapes: fc.Arbitrary<Shape> = fc
  .record({
    kind: fc.constantFrom('plain' as const, 'switch' as const),
    cases: fc.subarray([1, 100]),
    onError: fc.constantFrom('fail' as const, 'continue' as const, 'branch' as const),
    fails: fc.boolean(),
    joinsAny: fc.boolean(),
  })
  .map(({ cases, fails, ...shape }) => ({
    ...shape,
    taken: shape.kind === 'plain' ? [0] : cases,
    fails: fails && shape.onError !== 'fail',
  }));

/** The handles that the links of a node may have. */
function handlesOf({ kind, onError }: Shape): Handle[] {
  const handles = kind === 'plain' ? [0] : [1, 100];
  return onError === 'branch' ? [...handles, ERROR_HANDLE] : handles;
}

/** Acyclic (edges lead to higher numbers), with a spanning edge to every node and some edges doubled. */
const cases: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 24 }).chain((size) =>
  fc
    .record({
      parents: fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { minLength: size, maxLength: size }),
      extra: fc.array(fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000)), { maxLength: 40 }),
      nodes: fc.array(shapes, { minLength: size, maxLength: size }),
      picks: fc.array(fc.nat(1000), { minLength: size, maxLength: size }),
      resumes: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
    })
    .map(({ parents, extra, nodes, picks, resumes }) => {
      const edges: Edge[] = [];
      const add = (from: number, to: number, choice: number): void => {
        const handles = handlesOf(nodes[from]!);
        edges.push([from, to, handles[choice % handles.length]!]);
      };
      for (const [node, [parent, choice]] of parents.entries()) if (node > 0) add(parent % node, node, choice);
      for (const [a, b, choice] of extra) {
        const [from, to] = [Math.min(a % size, b % size), Math.max(a % size, b % size)];
        if (from !== to) add(from, to, choice);
      }
      const caught = nodes.flatMap(({ onError }, node): [number, Handle][] =>
        onError === 'fail' ? [] : [[node, onError === 'branch' ? ERROR_HANDLE : 0]],
      );
      const joinsAny = nodes.flatMap((shape, node) => (shape.joinsAny ? [node] : []));
      return {
        plan: toPlan(size, edges, { caught: Object.fromEntries(caught), joinsAny }),
        taken: nodes.map(({ taken }) => taken),
        fails: nodes.map(({ fails }) => fails),
        picks,
        resumes,
      };
    }),
);

/** The handles whose links are taken in the end. */
function leftBy({ plan, taken, fails }: Case, node: number): readonly Handle[] {
  return fails[node] ? [plan.caught![node]!] : taken[node]!;
}

function settle(planner: Planner, sample: Case, node: number): void {
  if (sample.fails[node]) planner.survive(node, sample.plan.caught![node]!);
  else planner.succeed(node, ...sample.taken[node]!);
}

/** Independent of the planner: nodes in topological (= numeric) order; one runs iff a live edge leads to it. */
function oracle(sample: Case): Set<number> {
  const executed = new Set([0]);
  for (let node = 0; node < sample.plan.ids.length; node++) {
    if (!executed.has(node)) continue;
    const left = leftBy(sample, node);
    for (const [to, handle] of sample.plan.out[node]!) if (left.includes(handle)) executed.add(to);
  }
  return executed;
}

function predecessors(plan: Plan, node: number): number[] {
  return plan.out.flatMap((edges, from) => (edges.some(([to]) => to === node) ? [from] : []));
}

/** A node starts after all before it have settled; one that joins any, after one has whose link to it is taken. */
function assertMayStart(sample: Case, planner: Planner, node: number): void {
  const hasSettled = (before: number): boolean => Number(planner.states()[before]) >= NodeState.succeeded;
  const before = predecessors(sample.plan, node);
  if (node === 0) return;
  if (!sample.plan.joinsAny!.includes(node)) {
    assert.ok(before.every(hasSettled), `${node} before those before it`);
    return;
  }
  const leads = (from: number): boolean =>
    sample.plan.out[from]!.some(([to, handle]) => to === node && leftBy(sample, from).includes(handle));
  assert.ok(
    before.some((from) => hasSettled(from) && planner.states()[from] !== String(NodeState.skipped) && leads(from)),
    `${node} joins any, and none has come`,
  );
}

function takeAll(planner: Planner): number[] {
  const nodes: number[] = [];
  for (let node = planner.take(); node !== undefined; node = planner.take()) nodes.push(node);
  return nodes;
}

/** As continue-as-new does it. */
function resume(planner: Planner, plan: Plan): Planner {
  const stored = JSON.parse(JSON.stringify(planner.snapshot())) as ReturnType<Planner['snapshot']>;
  const resumed = new Planner(plan, stored);
  assert.equal(resumed.open, planner.open);
  assert.equal(resumed.succeeded, planner.succeeded);
  return resumed;
}

describe('planner', () => {
  it('executes exactly the nodes that a live edge reaches, each once, in any order of completion', () => {
    fc.assert(
      fc.property(cases, (sample) => {
        let planner = new Planner(sample.plan);
        const executed: number[] = [];
        const running: number[] = [];
        for (let step = 0; ; step++) {
          for (const node of takeAll(planner)) {
            assertMayStart(sample, planner, node);
            running.push(node);
          }
          if (running.length === 0) break;
          const [node] = running.splice(sample.picks[step]! % running.length, 1);
          executed.push(node!);
          settle(planner, sample, node!);
          if (running.length === 0 && sample.resumes[step]) planner = resume(planner, sample.plan);
        }
        assert.equal(planner.open, 0);
        assert.equal(planner.succeeded, executed.filter((node) => !sample.fails[node]).length);
        assert.equal(new Set(executed).size, executed.length, 'no node twice');
        assert.deepEqual(new Set(executed), oracle(sample));
      }),
      { numRuns: 20_000 },
    );
  });

  it('goes on from a snapshot at each step as if nothing had happened', () => {
    fc.assert(
      fc.property(cases, (sample) => {
        let planner = new Planner(sample.plan);
        const executed = new Set<number>();
        for (let step = 0; ; step++) {
          const node = planner.take();
          if (node === undefined) break;
          executed.add(node);
          settle(planner, sample, node);
          if (sample.resumes[step]) planner = resume(planner, sample.plan);
        }
        assert.equal(planner.open, 0);
        assert.deepEqual(executed, oracle(sample));
      }),
      { numRuns: 1000 },
    );
  });

  it('starts a node that joins any with the first link that is taken, and ignores the others', () => {
    const edges: Edge[] = [
      [0, 1, 0],
      [0, 2, 0],
      [1, 3, 0],
      [2, 3, 0],
    ];
    const planner = new Planner(toPlan(4, edges, { joinsAny: [3] }));
    planner.succeed(planner.take()!, 0);
    assert.deepEqual(takeAll(planner), [1, 2]);
    planner.succeed(2, 0);
    assert.deepEqual(takeAll(planner), [3]);
    planner.succeed(3, 0);
    planner.succeed(1, 0);
    assert.deepEqual(takeAll(planner), []);
    assert.equal(planner.open, 0);
  });

  it('follows the error link of a failure that is caught, and no other', () => {
    const edges: Edge[] = [
      [0, 1, 0],
      [0, 2, ERROR_HANDLE],
    ];
    const planner = new Planner(toPlan(3, edges, { caught: { 0: ERROR_HANDLE } }));
    planner.survive(planner.take()!, ERROR_HANDLE);
    assert.deepEqual(takeAll(planner), [2]);
    assert.equal(planner.states(), `${NodeState.failed}${NodeState.skipped}${NodeState.running}`);
  });

  it('runs a join of two live branches once, after both', () => {
    const planner = new Planner(
      toPlan(4, [
        [0, 1, 0],
        [0, 2, 0],
        [1, 3, 0],
        [2, 3, 0],
      ]),
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
      toPlan(4, [
        [0, 1, 1],
        [0, 2, 2],
        [1, 3, 0],
        [2, 3, 0],
      ]),
    );
    planner.succeed(planner.take()!, 2);
    assert.deepEqual(takeAll(planner), [2]);
    planner.succeed(2, 0);
    assert.deepEqual(takeAll(planner), [3]);
    assert.equal(planner.states()[1], String(NodeState.skipped));
  });

  it('runs a node once to which both handles of a condition lead', () => {
    const planner = new Planner(
      toPlan(2, [
        [0, 1, 1],
        [0, 1, 2],
      ]),
    );
    planner.succeed(planner.take()!, 1);
    assert.deepEqual(takeAll(planner), [1]);
  });

  it('settles a dead path of 50,000 nodes without recursion', () => {
    const size = 50_000;
    const edges: Edge[] = [];
    for (let node = 1; node < size; node++) edges.push([node - 1, node, node === 1 ? 1 : 0]);
    const planner = new Planner(toPlan(size, edges));
    planner.succeed(planner.take()!, 2);
    assert.equal(planner.open, 0);
  });

  it('leaves the followers of a failed node alone and closes them as cancelled', () => {
    const planner = new Planner(
      toPlan(3, [
        [0, 1, 0],
        [1, 2, 0],
      ]),
    );
    planner.succeed(planner.take()!, 0);
    planner.fail(planner.take()!);
    assert.equal(planner.take(), undefined);
    planner.cancelOpen();
    assert.equal(planner.states(), `${NodeState.succeeded}${NodeState.failed}${NodeState.cancelled}`);
  });

  it('refuses to settle a node twice', () => {
    const planner = new Planner(toPlan(1, []));
    planner.succeed(planner.take()!, 0);
    assert.throws(() => planner.succeed(0, 0), /settled twice/);
  });
});
