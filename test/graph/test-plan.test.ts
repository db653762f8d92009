// The nodes that a test run executes and reuses, and its plan: compared with the rule of resume, and on plans drawn by
// hand.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compilePlan } from '../../graph/compile-plan.js';
import { handlesAfter, rootPlan, type Handle, type NodeEnding, type Plan } from '../../graph/plan.js';
import { Planner, type ReusedNode } from '../../graph/planner.js';
import { fatesOf } from '../../graph/resumed-nodes.js';
import { chooseTest, planOfTest, type TestMode } from '../../graph/test-plan.js';
import {
  drawing,
  http,
  link,
  linkInRow,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { cases, leftBy, oracle, settle, takeAll, type Case } from '../temporal-workflows/random-plans.js';

/** The handle of a node none of whose links is taken. No link has this handle. */
const NO_LINK = 7;
const RUNS = 5_000;

function endingOf(sample: Case, number: number): NodeEnding {
  const [handle = NO_LINK, ...alsoHandles] = leftBy(sample, number);
  const base = { handle, alsoHandles, errorCode: null, isHandled: false };
  return sample.fails[number]
    ? { ...base, status: 'failed', errorCode: 'any', isHandled: true }
    : { ...base, status: 'succeed' };
}

/** Executes a plan whose reused nodes are settled. Returns the ids of the nodes that it executes. */
function execute(plan: Plan, sample: Case, kept: readonly ReusedNode[]): Set<string> {
  const planner = new Planner(plan);
  planner.settleReused(kept);
  const executed = new Set<string>();
  for (let running = takeAll(planner); running.length > 0; running = takeAll(planner)) {
    for (const number of running) {
      const id = plan.ids[number]!;
      assert.ok(!executed.has(id), `${id} is executed once`);
      executed.add(id);
      const whole = sample.plan.ids.indexOf(id);
      const own: Case = { ...sample, plan: { ...plan, caught: plan.caught ?? {} } };
      settle(
        planner,
        { ...own, taken: at(number, sample.taken[whole]!), fails: at(number, sample.fails[whole]!) },
        number,
      );
    }
  }
  assert.equal(planner.open, 0, 'the run can end');
  return executed;
}

function at<Value>(number: number, value: Value): Value[] {
  const values: Value[] = [];
  values[number] = value;
  return values;
}

function toKept(plan: Plan, sample: Case, ids: Iterable<string>): ReusedNode[] {
  return [...ids].map((id) => {
    const whole = sample.plan.ids.indexOf(id);
    const end = endingOf(sample, whole);
    const number = plan.ids.indexOf(id);
    return {
      node: number,
      handles: handlesAfter(end, sample.plan, whole)!,
      ...(end.status === 'failed' && { hasFailed: true as const }),
    };
  });
}

describe('the plan of a test', () => {
  it('executes from a node on what a run would that resumes an earlier one from there', () => {
    let compared = 0;
    fc.assert(
      fc.property(cases, fc.nat(23), (sample, pick) => {
        const { plan } = sample;
        const target = pick % plan.ids.length;
        const ran = oracle(sample);
        const fates = fatesOf({
          plan: { ...plan, offset: 0 },
          endOf: (id) => (ran.has(plan.ids.indexOf(id)) ? endingOf(sample, plan.ids.indexOf(id)) : undefined),
          isAnew: (id) => id === plan.ids[target],
        });
        fc.pre(fates[target] === 'anew');
        compared += 1;
        const keptIds = plan.ids.filter((_, number) => fates[number] === 'kept');
        const resumed = execute(plan, sample, toKept(plan, sample, keptIds));
        const scopes = chooseTest(plan, { mode: 'from', node: target, isFixed: () => false, readsOf: () => [] });
        const taken = new Map<number, readonly Handle[]>(
          [...scopes[0]!.wanted]
            .filter((number) => ran.has(number))
            .map((number) => [number, handlesAfter(endingOf(sample, number), plan, number)!]),
        );
        const test = planOfTest(plan, { mode: 'from', scopes, taken, fixed: new Map(), only: new Map() });
        const kept = toKept(
          test,
          sample,
          [...taken.keys()].map((number) => plan.ids[number]!),
        );
        assert.deepEqual(execute(test, sample, kept), resumed);
      }),
      { numRuns: RUNS },
    );
    assert.ok(compared > RUNS / 4, `${compared} of ${RUNS} were compared`);
  });

  interface Tried {
    plan: Plan;
    executed: string[];
    wanted: string[];
    needed: string[];
  }

  function tryNode(nodes: DrawingNode[], mode: TestMode, tried: DrawingNode, given: DrawingNode[] = []): Tried {
    const compiled = compilePlan(drawing(nodes));
    assert.ok(compiled.ok);
    const { plan, document } = compiled;
    const label = (number: number): string =>
      String(document.nodes.find(({ id }) => id === plan.ids[number])!.data['name']);
    const reads = new Map(nodes.map(({ id, data }) => [id, (data['reads'] as DrawingNode[] | undefined) ?? []]));
    const scopes = chooseTest(plan, {
      mode,
      node: plan.ids.indexOf(tried.id),
      isFixed: (number) => given.some(({ id }) => id === plan.ids[number]),
      readsOf: (number) => reads.get(plan.ids[number]!)!.map(({ id }) => plan.ids.indexOf(id)),
    });
    const names = (of: 'executed' | 'wanted' | 'needed'): string[] =>
      scopes.flatMap((scope) => [...scope[of]].map((number) => label(number))).toSorted();
    const taken = new Map(
      scopes.flatMap(({ wanted }) => [...wanted].map((number): [number, Handle[]] => [number, [0]])),
    );
    const places = new Map(given.map(({ id }): [number, true] => [plan.ids.indexOf(id), true]));
    const only = new Map(scopes.flatMap(({ loop }) => (loop === undefined ? [] : [[loop, 2] as const])));
    const test = planOfTest(plan, { mode, scopes, taken, fixed: places, only });
    return { plan: test, executed: names('executed'), wanted: names('wanted'), needed: names('needed') };
  }

  const named = (name: string, reads: DrawingNode[] = [], make = http('http://x.test')): DrawingNode => {
    Object.assign(make.data, { name, reads });
    return make;
  };

  it('of one node takes what it reads, and nothing else', () => {
    const a = named('a');
    const b = named('b');
    const c = named('c', [a]);
    const { executed, wanted, needed, plan } = tryNode(
      linkInRow([trigger([], { name: 'start' }), a, b, c, named('d')]),
      'node',
      c,
    );
    assert.deepEqual([executed, wanted, needed], [['c'], ['a'], ['a']]);
    assert.equal(plan.ids.length, 3, 'the trigger, what it reads, and itself');
    assert.deepEqual(plan.indegree, [0, 1, 2], 'it waits for the result that is taken');
  });

  it('up to a node begins at a node whose result is given, and at the trigger if a node before that one is read', () => {
    const a = named('a');
    const b = named('b');
    const c = named('c');
    const all = (reads: DrawingNode[]): DrawingNode[] =>
      linkInRow([trigger([], { name: 'start' }), a, b, c, named('d', reads)]);
    const short = all([]);
    assert.deepEqual(tryNode(short, 'up_to', short.at(-1)!, [b]).executed, ['b', 'c', 'd']);
    const [a2, b2] = [named('a'), named('b')];
    const long = linkInRow([trigger([], { name: 'start' }), a2, b2, named('c'), named('d', [a2])]);
    assert.deepEqual(tryNode(long, 'up_to', long.at(-1)!, [b2]).executed, ['a', 'b', 'c', 'd', 'start']);
  });

  it('of a node in a body executes one iteration, and of the body a part', () => {
    const before = named('before');
    const [one, two, three] = [named('one'), named('two', [before]), named('three')];
    link(one, two);
    link(two, three);
    const loop = named('loop', [], node('for_each', { items: resultOf(before), body_node: one.id }));
    const nodes = [...linkInRow([trigger([], { name: 'start' }), before, loop, named('after')]), one, two, three];
    const alone = tryNode(nodes, 'node', two);
    assert.deepEqual([alone.executed, alone.wanted], [['loop', 'two'], ['before']]);
    const place = alone.plan.ids.indexOf(loop.id);
    assert.deepEqual(alone.plan.only, { [place]: 2 });
    assert.equal(alone.plan.bodies![place]!.end - alone.plan.bodies![place]!.first, 1);
    assert.deepEqual(rootPlan(alone.plan).ids.includes(one.id), false);
    assert.deepEqual(tryNode(nodes, 'from', two).executed, ['loop', 'three', 'two']);
    assert.deepEqual(tryNode(nodes, 'up_to', two).executed, ['before', 'loop', 'one', 'start', 'two']);
  });

  it('keeps the pools of its nodes, and how long they may wait for a worker', () => {
    const placed = http('http://a.example', { name: 'placed', settings: { pool: 'inside', schedule_timeout: 60 } });
    const nodes = linkInRow([trigger([], { name: 'start' }), named('before'), placed]);
    const { plan } = tryNode(nodes, 'node', placed);
    const place = plan.ids.indexOf(placed.id);
    assert.deepEqual([plan.pools, plan.takeWithin], [{ [place]: 'inside' }, { [place]: 60 }]);
  });
});
