// The nodes that a resumed run reuses: the rule (graph/resumed-nodes.ts) and the planner, on random plans.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { handlesAfter, type NodeEnding, type Plan } from '../../graph/plan.js';
import { fatesOf } from '../../graph/resumed-nodes.js';
import { Planner, type ReusedNode } from '../../graph/planner.js';
import { cases, leftBy, oracle, settle, takeAll, type Case } from './random-plans.js';

/** The handle of a node none of whose links is taken. No link has this handle. */
const NO_LINK = 7;

function endingOf(sample: Case, node: number): NodeEnding {
  const [handle = NO_LINK, ...alsoHandles] = leftBy(sample, node);
  const base = { handle, alsoHandles, errorCode: null, isHandled: false };
  return sample.fails[node]
    ? { ...base, status: 'failed', errorCode: 'any', isHandled: true }
    : { ...base, status: 'succeed' };
}

/**
 * Executes the plan until `failsAfter` nodes have ended; then one fails and the others are stopped. Returns the nodes
 * that have ended.
 */
function runUntilFailure(sample: Case, failsAfter: number): Set<number> {
  const planner = new Planner(sample.plan);
  const ended = new Set<number>();
  const running = takeAll(planner);
  for (const pick of sample.picks) {
    if (running.length === 0 || ended.size === failsAfter) break;
    const [node] = running.splice(pick % running.length, 1);
    settle(planner, sample, node!);
    ended.add(node!);
    running.push(...takeAll(planner));
  }
  return ended;
}

function reachedFrom(plan: Plan, nodes: ReadonlySet<number>): Set<number> {
  const reached = new Set(nodes);
  for (const node of reached) for (const [to] of plan.out[node]!) reached.add(to);
  return reached;
}

interface Resumed {
  kept: Set<number>;
  executed: number[];
}

function resume(sample: Case, ended: ReadonlySet<number>, anew: ReadonlySet<number>): Resumed {
  const plan = { ...sample.plan, offset: 0 };
  const numberOf = (id: string): number => plan.ids.indexOf(id);
  const endOf = (node: number): NodeEnding | undefined => (ended.has(node) ? endingOf(sample, node) : undefined);
  const fates = fatesOf({ plan, endOf: (id) => endOf(numberOf(id)), isAnew: (id) => anew.has(numberOf(id)) });
  const kept = fates.flatMap((fate, node): ReusedNode[] => {
    if (fate !== 'kept') return [];
    const end = endOf(node)!;
    return [{ node, handles: handlesAfter(end, plan, node)!, ...(end.status === 'failed' && { hasFailed: true }) }];
  });
  const planner = new Planner(plan);
  planner.settleReused(kept);
  const executed: number[] = [];
  for (let running = takeAll(planner); running.length > 0; running = takeAll(planner)) {
    for (const node of running.toReversed()) {
      settle(planner, sample, node);
      executed.push(node);
    }
  }
  assert.equal(planner.open, 0, 'the run can end');
  for (const [node, fate] of fates.entries()) {
    if (fate === 'skipped') assert.ok(!executed.includes(node), `${node} was skipped, and runs`);
  }
  return { kept: new Set(kept.map(({ node }) => node)), executed };
}

describe('a plan that is resumed', () => {
  const failures = fc.tuple(cases, fc.nat(24), fc.array(fc.nat(23), { maxLength: 3 }));

  it('keeps exactly what has ended, and executes the rest once, as if nothing had failed', () => {
    let continued = 0;
    fc.assert(
      fc.property(failures, ([sample, failsAfter]) => {
        const ended = runUntilFailure(sample, failsAfter);
        const { kept, executed } = resume(sample, ended, new Set());
        assert.deepEqual(kept, ended);
        assert.deepEqual(
          [...kept, ...executed].toSorted((a, b) => a - b),
          [...oracle(sample)].toSorted((a, b) => a - b),
        );
        continued += Number(kept.size > 0 && executed.length > 0);
      }),
      { numRuns: 5_000 },
    );
    assert.ok(continued > 500, `${continued} had something to keep and something to do`);
  });

  it('keeps nothing that was chosen or comes after it, and executes the rest once', () => {
    fc.assert(
      fc.property(failures, ([sample, failsAfter, chosen]) => {
        const ended = runUntilFailure(sample, failsAfter);
        const size = sample.plan.ids.length;
        // A node that no link reaches is not executed, chosen or not.
        const anew = new Set(chosen.map((node) => node % size).filter((node) => oracle(sample).has(node)));
        const { kept, executed } = resume(sample, ended, anew);
        for (const node of kept) assert.ok(ended.has(node));
        const all = [...kept, ...executed];
        assert.equal(new Set(all).size, all.length, 'a node is kept or executed, once');
        assert.deepEqual(new Set(all), oracle(sample));
        const begun = new Set([...anew].filter((node) => executed.includes(node)));
        assert.deepEqual(begun, anew);
        const after = reachedFrom(sample.plan, anew);
        assert.ok(
          [...kept].every((node) => !after.has(node)),
          'what comes after a chosen node is not kept',
        );
      }),
      { numRuns: 5_000 },
    );
  });
});
