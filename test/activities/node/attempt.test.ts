import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { attemptNode } from '../../../activities/node/attempt.js';
import { NodeFailure } from '../../../activities/node/failures.js';
import { Isolation } from '../../../activities/node/isolation.js';
import { createSharedWrites } from '../../../activities/node/shared-writes.js';
import { handlesOf, type NodeDeps, type NodeStep } from '../../../activities/node/node-step.js';
import { ConnectionNeeded, NodeWaits } from '../../../activities/node/wait-for-connection.js';
import type { RunContext } from '../../../activities/node/run-context.js';
import { createWorkerMetrics } from '../../../activities/worker/worker-metrics.js';
import type { NodeFacts } from '../../../contract/activities.js';
import type { Database } from '../../../db/core/client.js';
import { createSecretBox, MissingKeyError } from '../../../db/core/secret-box.js';
import { findNodeClaim, recordNodeEnd, type NodeEndRow } from '../../../db/nodes/node-results-repository.js';
import { createMasker } from '../../../graph/mask.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { createLogger } from '../../../telemetry/logger.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../../db/open-run.js';

describe('an attempt of a node', function () {
  this.timeout(120_000);
  let db: Database;
  let run: OpenRun;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());
  beforeEach(async () => {
    run = await openRun(db, ['condition']);
  });

  const evaluatesTrue: NodeStep<NodeFacts> = {
    isClaimed: false,
    run: async () => ({ output: { content: 'true' }, handle: 1 }),
    factsOf: handlesOf,
  };

  async function attempt(step = evaluatesTrue, load?: () => Promise<never>): Promise<NodeFacts> {
    const [nodeId] = run.nodeIds as [string];
    const key = { runId: run.id, path: '', nodeId };
    const node = { id: nodeId, kind: 'condition', label: 'a condition', data: {} };
    const { projectId, userId } = run;
    const context = { projectId, userId, masker: createMasker([]), node: () => node } as unknown as RunContext;
    const contexts = { start: async () => context, load: load ?? (async () => context), remember: () => undefined };
    const deps: NodeDeps = {
      db,
      writes: createSharedWrites(db),
      secretBox: createSecretBox([Buffer.alloc(32)]),
      contexts: contexts as unknown as NodeDeps['contexts'],
      memory: new ByteBudget({ totalBytes: 1e6, uncountedBytes: 0 }),
      logger: createLogger('worker', 'silent'),
      metrics: createWorkerMetrics(),
      workerId: randomUUID(),
      isolation: new Isolation(),
    };
    return new MockActivityEnvironment().run(() => attemptNode(deps, key, step));
  }

  it('leaves a condition by the handle that the first attempt has recorded', async () => {
    await recordNodeEnd(db, nodeEnd(run, run.nodeIds[0]!, 'condition', { handle: 2 }));
    assert.deepEqual(await attempt(), { handle: 2 });
  });

  it('leaves a condition by its own handle where no attempt before has recorded any', async () => {
    assert.deepEqual(await attempt(), { handle: 1 });
  });

  const fails: NodeStep<NodeFacts> = {
    ...evaluatesTrue,
    run: () => Promise.reject(new NodeFailure('timeout', 'It took too long.')),
  };
  /** The end that another attempt records while this one is under way. */
  const meanwhile = (step: NodeStep<NodeFacts>, end: Partial<NodeEndRow>): NodeStep<NodeFacts> => ({
    ...step,
    isClaimed: true,
    async run(task) {
      await recordNodeEnd(db, nodeEnd(run, task.nodeId, 'condition', end));
      return step.run(task);
    },
  });
  const failed = { status: 'failed', result: null, errorCode: 'outcome_unknown', errorMessage: 'Lost.' } as const;
  const isLost = { name: 'ApplicationFailure', type: 'outcome_unknown', nonRetryable: true };

  it('fails when it succeeds after another one has recorded a failure', async () => {
    await assert.rejects(attempt(meanwhile(evaluatesTrue, failed)), isLost);
  });

  it('fails without a claim, too, when the node has failed before', async () => {
    await recordNodeEnd(db, nodeEnd(run, run.nodeIds[0]!, 'condition', failed));
    await assert.rejects(attempt(), isLost);
  });

  it('fails with the failure that was recorded first', async () => {
    await assert.rejects(attempt(meanwhile(fails, failed)), isLost);
  });

  it('succeeds when it fails after another one has recorded a success', async () => {
    assert.deepEqual(await attempt(meanwhile(fails, { handle: 2 })), { handle: 2 });
  });

  const isUnreadable = { name: 'ApplicationFailure', type: 'secret_unreadable', nextRetryDelay: 10_000 };

  it('is not counted when its connection has become ready before it could wait', async () => {
    const needsSignIn = { ...evaluatesTrue, isClaimed: true, run: () => Promise.reject(new ConnectionNeeded(0)) };
    for (let count = 0; count < 2; count += 1) {
      const isOver = (error: unknown): boolean => error instanceof NodeWaits && error.facts.isOver === true;
      await assert.rejects(attempt(needsSignIn), isOver);
      assert.equal((await findNodeClaim(db, { runId: run.id, path: '', nodeId: run.nodeIds[0]! }))?.attempts, 0);
    }
  });

  it('is the last one where no attempt before has come to an end, and says how many there were', async () => {
    const retry = { maxAttempts: 2, firstDelayMs: 0 };
    const outcomes = [new NodeFailure('timeout', 'Late.', { isRetryable: true }), new Error('killed')];
    for (const outcome of outcomes) {
      const step = { ...evaluatesTrue, isClaimed: true, retry, run: () => Promise.reject(outcome) };
      await assert.rejects(attempt(step));
    }
    await assert.rejects(attempt({ ...evaluatesTrue, isClaimed: true, retry }), { type: 'worker_lost' });
    const { error_message: message } = await db
      .selectFrom('node_results')
      .select('error_message')
      .where('run_id', '=', run.id)
      .executeTakeFirstOrThrow();
    assert.equal(message, 'The node was given up after 2 attempts; the last one was cut off.');
  });

  it('is repeated without being counted as long as a key is missing', async () => {
    const claimed = { ...evaluatesTrue, isClaimed: true, retry: { maxAttempts: 1, firstDelayMs: 0 } };
    const readsSecret = { ...claimed, run: () => Promise.reject(new MissingKeyError('12345678')) };
    for (let count = 0; count < 2; count += 1) await assert.rejects(attempt(readsSecret), isUnreadable);
    const unreadableRun = () => Promise.reject(new MissingKeyError('12345678'));
    for (let count = 0; count < 2; count += 1) await assert.rejects(attempt(claimed, unreadableRun), isUnreadable);
    assert.deepEqual(await attempt(claimed), { handle: 1 });
    assert.equal((await findNodeClaim(db, { runId: run.id, path: '', nodeId: run.nodeIds[0]! }))?.attempts, 1);
  });
});
