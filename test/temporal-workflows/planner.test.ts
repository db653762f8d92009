import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ERROR_HANDLE, type Plan } from '../../graph/plan.js';
import { NodeState, Planner } from '../../graph/planner.js';
import { cases, leftBy, oracle, predecessors, settle, takeAll, toPlan, type Case, type Edge } from './random-plans.js';

/**
 * A node starts after all nodes before it have settled. A node with `joinsAny` starts after one of them has settled
 * whose link to it is taken.
 */
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

/** Rebuilds the planner from its snapshot, as continue-as-new does. */
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
