// Random plans: any shape, and any combination of handles by which nodes are left and joined.
import fc from 'fast-check';
import { ERROR_HANDLE, type Handle, type Plan } from '../../graph/plan.js';
import type { Planner } from '../../graph/planner.js';

export interface Case {
  plan: Plan;
  /** The handles by which each node is left, if it does not fail. */
  taken: Handle[][];
  /** True for a node that fails with a caught failure. */
  fails: boolean[];
  /**
   * `picks` chooses the running node that finishes next, and `resumes` the points at which the planner is rebuilt from
   * its snapshot.
   */
  picks: number[];
  resumes: boolean[];
}

export type Edge = [from: number, to: number, handle: Handle];

export function toPlan(size: number, edges: Edge[], more: Partial<Plan> = {}): Plan {
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

/** One node: the handles that its links may have, and those that are taken. */
interface Shape {
  /** `plain` has only ordinary links, `switch` has two cases, any number of which is taken. */
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

/** Acyclic (edges lead to higher numbers), with a spanning edge to every node and some duplicate edges. */
export const cases: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 24 }).chain((size) =>
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
export function leftBy({ plan, taken, fails }: Case, node: number): readonly Handle[] {
  return fails[node] ? [plan.caught![node]!] : taken[node]!;
}

export function settle(planner: Planner, sample: Case, node: number): void {
  if (sample.fails[node]) planner.survive(node, sample.plan.caught![node]!);
  else planner.succeed(node, ...sample.taken[node]!);
}

/**
 * Computes the executed nodes independently of the planner: in topological (= numeric) order, a node runs iff a live
 * edge leads to it.
 */
export function oracle(sample: Case): Set<number> {
  const executed = new Set([0]);
  for (let node = 0; node < sample.plan.ids.length; node++) {
    if (!executed.has(node)) continue;
    const left = leftBy(sample, node);
    for (const [to, handle] of sample.plan.out[node]!) if (left.includes(handle)) executed.add(to);
  }
  return executed;
}

export function predecessors(plan: Plan, node: number): number[] {
  return plan.out.flatMap((edges, from) => (edges.some(([to]) => to === node) ? [from] : []));
}

export function takeAll(planner: Planner): number[] {
  const nodes: number[] = [];
  for (let node = planner.take(); node !== undefined; node = planner.take()) nodes.push(node);
  return nodes;
}
