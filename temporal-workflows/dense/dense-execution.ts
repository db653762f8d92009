// Dense execution: ready nodes become activities that several of them share.
import { sleep } from '@temporalio/workflow';
import type { ChainFacts } from '../../contract/dense.js';
import type { RunGraphInput } from '../../contract/run-workflow.js';
import { traitsOf } from '../../graph/kinds.js';
import type { Handle, Plan } from '../../graph/plan.js';
import type { NodeWork, WorkEnd } from '../node-work.js';
import type { Planner } from '../planner.js';
import { beginsLocally, groupConcurrent, isDecision, isPlain, type DensePlan } from './chains.js';
import { callChain, progressOf, toChainCall } from './chain-call.js';

export interface DenseExecution {
  /** Groups ready nodes by the activities that they begin in. */
  group(ready: number[]): NodeWork[];
}

/** Returns undefined for a run that is executed visibly. `single` executes a node in the activity of its kind. */
export function createDenseExecution(
  input: RunGraphInput & { plan: Plan },
  planner: Planner,
  single: (node: number) => NodeWork,
): DenseExecution | undefined {
  const { plan, placements } = input;
  if (placements === undefined) return undefined;
  const dense: DensePlan = { plan, placements };

  function toWork(nodes: number[]): NodeWork {
    const [first] = nodes as [number];
    const isInline = traitsOf(plan.kinds[first]!).runs === 'inline';
    if ((placements![first] === 'own' && !isInline) || !isPlain(plan, first)) return single(first);
    const isLocal = beginsLocally(dense, first);
    const call = toChainCall(dense, { runId: input.runId, nodes, isLocal, open: planner.open });
    if (call.length === 1 && placements![first] !== 'local') return single(first);
    let at = nodes.at(-1)!;

    /** Settles `count` consecutive nodes. `at` becomes the node after them. */
    function pass(count: number, handles: Handle[]): void {
      const left = [...handles];
      for (let passed = 0; passed < count; passed++) {
        planner.succeed(at, isDecision(plan, at) ? left.shift()! : 0);
        at = planner.takeLast();
      }
    }

    function end(facts: ChainFacts): WorkEnd {
      const { continueAfterMs, done = continueAfterMs === undefined ? 1 : 0, handles = [] } = facts;
      if (continueAfterMs !== undefined) {
        pass(done, handles);
        return { rest: [delayed(single(at), continueAfterMs)] };
      }
      pass(done - 1, handles);
      planner.succeed(at, facts.handle ?? 0);
      return facts.isEnded === true ? { isEnded: true } : {};
    }

    return {
      size: nodes.length,
      async run() {
        const facts = await callChain(call, isLocal && placements![first] === 'local');
        const left = new Map(facts.continuations);
        if (left.size === 0) {
          for (const node of nodes.slice(0, -1)) planner.succeed(node, 0);
          return end(facts);
        }
        for (const [place, node] of nodes.entries()) if (!left.has(place)) planner.succeed(node, 0);
        return { rest: [...left].map(([place, afterMs]) => delayed(single(nodes[place]!), afterMs)) };
      },
      failedNode(error) {
        const { done, handles, concurrent = [], failed } = progressOf(error);
        if (done > 0 || nodes.length === 1) {
          for (const node of nodes.slice(0, -1)) planner.succeed(node, 0);
          pass(done, handles);
          return at;
        }
        const isDone = new Set(concurrent);
        for (const [place, node] of nodes.entries()) if (isDone.has(place)) planner.succeed(node, 0);
        return nodes[failed ?? nodes.findIndex((_, place) => !isDone.has(place))] ?? at;
      },
    };
  }

  return { group: (ready) => groupConcurrent(dense, ready).map(toWork) };
}

/** A node that a shared activity has attempted. Its own activity continues the count of attempts. */
function delayed(work: NodeWork, afterMs: number): NodeWork {
  return {
    ...work,
    async run() {
      if (afterMs > 0) await sleep(afterMs);
      return work.run();
    },
  };
}
