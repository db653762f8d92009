// What a walk reports about nodes that have not ended.
import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { retryableFailure } from '../../../activities/node/failures.js';
import { walk, type WalkDeps } from '../../../activities/node/walk.js';
import type { NodeFacts, Walked } from '../../../contract/activities.js';
import type { Plan } from '../../../graph/plan.js';

/** Nodes that are decided without leaving the process, side by side. */
const PLAN: Plan = { ids: ['a', 'b'], kinds: ['set', 'set'], labels: ['a', 'b'], out: [[], []], indegree: [0, 0] };

interface Logged {
  err: unknown;
  run_id: string;
  node_id: string;
}

/** Walks the nodes as a local activity, which calls `attempts[id]` for each. */
async function walkOf(
  nodes: number[],
  attempts: Record<string, () => Promise<NodeFacts>>,
): Promise<{ report: Walked & { error?: unknown }; logged: Logged[] }> {
  const logged: Logged[] = [];
  const deps = {
    node: {
      contexts: { start: async () => ({ planOf: () => PLAN, isTest: false, projectId: 1 }) },
      logger: { error: (facts: Logged) => void logged.push(facts) },
    },
    runners: {},
    trace: (_activity: string, { nodeId }: { nodeId: string }) => attempts[nodeId]!(),
  } as unknown as WalkDeps;
  const ref = { runId: 'run', path: '', nodeId: 'a', nodes, begins: nodes.length };
  const report = await new MockActivityEnvironment({ isLocal: true }).run(() =>
    walk(deps, ref).catch((error: unknown) => ({ error })),
  );
  return { report: report as Walked & { error?: unknown }, logged };
}

describe('a node that neither ends nor waits', () => {
  const succeed = async (): Promise<NodeFacts> => ({});

  it('comes back in 8 to 16 s after an unexpected error, which is logged', async () => {
    const unexpected = new Error('Connection terminated unexpectedly');
    const { report, logged } = await walkOf([0, 1], { a: succeed, b: () => Promise.reject(unexpected) });
    const [[node, afterMs] = [], ...others] = report.later ?? [];
    assert.deepEqual([report.ends, node, others], [[[0, 0]], 1, []]);
    assert.ok(afterMs! >= 8_000 && afterMs! <= 16_000, `${afterMs} ms`);
    assert.deepEqual(logged, [{ err: unexpected, run_id: 'run', node_id: 'b' }]);
  });

  it('comes back after the delay of its own failure, which is not logged', async () => {
    const failure = retryableFailure('network_error', 25);
    const { report, logged } = await walkOf([0, 1], { a: succeed, b: () => Promise.reject(failure) });
    assert.deepEqual([report.ends, report.later, logged], [[[0, 0]], [[1, 25]], []]);
  });

  it('fails the activity, which Temporal repeats, if there is nothing else to report', async () => {
    const unexpected = new Error('Connection terminated unexpectedly');
    const { report, logged } = await walkOf([0], { a: () => Promise.reject(unexpected) });
    assert.equal(report.error, unexpected);
    assert.equal(logged.length, 1);
  });
});
