// The frame around every node: claim, heartbeat, attempt, record. The work of each kind is in kinds/.
//
// If the process dies before the claim, nothing has happened. If it dies after the claim, the next attempt finds `in
// progress` and executes the node again (the ledger guards calls that must not be repeated). If it dies after the
// record, the next attempt finds the stored end and returns it without executing anything.
import { Context, heartbeat } from '@temporalio/activity';
import type { NodeFacts } from '../../contract/activities.js';
import type { NodeClaim } from '../../db/nodes/node-results-repository.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import { finalFailure } from './failures.js';
import { attemptStep, claimOrSettle } from './attempt.js';
import type { NodeBeginning, NodeDeps, NodeKindRunner, NodeStep } from './node-step.js';
import { runInTurn } from './attempt-order.js';
import { inIsolation } from './in-isolation.js';
import { Pulse } from './heartbeat.js';

/** Makes one attempt of a node, or of one step of it, and counts it. */
export async function claimAndAttempt<Facts>(
  deps: NodeDeps,
  key: NodeKey,
  step: NodeStep<Facts>,
  { givenUp, readyAtMs }: NodeBeginning = {},
): Promise<Facts> {
  await deps.contexts.take(key.runId);
  const claim = await claimOrSettle(deps, key, step, readyAtMs);
  if (claim.status === 'succeed') return step.settled(claim);
  const attempt = (instead?: () => never): Promise<Facts> =>
    attemptStep(deps, key, step, { attempt: step.attemptOf(claim), claimed: claim.attempts, givenUp, instead });
  return claim.isHeld ? inIsolation(deps, key, { claim, step, givenUp }, attempt) : attempt();
}

/** Runs a node that only reads and decides, without a claim. Executed again, it keeps the end that is recorded. */
export function runInline<Facts>(
  deps: NodeDeps,
  key: NodeKey,
  step: NodeStep<Facts>,
  { givenUp }: NodeBeginning = {},
): Promise<Facts> {
  return attemptStep(deps, key, step, { attempt: 1, givenUp });
}

/** A normal activity sends heartbeats and waits for its own earlier attempts. A local one has neither. */
export async function withPulse<Facts>({ runId }: NodeKey, work: (pulse: Pulse) => Promise<Facts>): Promise<Facts> {
  const { info, cancellationSignal } = Context.current();
  const pulse = new Pulse(info.isLocal ? undefined : heartbeat);
  try {
    if (info.isLocal) return await work(pulse);
    return await runInTurn(`${runId}/${info.activityId}`, cancellationSignal, () => work(pulse));
  } finally {
    pulse.stop();
  }
}

export function toStep(runner: NodeKindRunner): NodeStep<NodeFacts> {
  return {
    ...runner,
    attemptOf: (claim) => claim.attempts - claim.spared,
    settled: settledFacts,
    async perform(task, end) {
      const outcome = await runner.execute(task);
      await end(outcome);
      return toFacts(outcome.handle, outcome.alsoHandles);
    },
  };
}

/** The step only reads and writes: its attempts are not counted, because it may be repeated at any time. */
export const REPEATABLE = { maxAttempts: Number.POSITIVE_INFINITY, firstDelayMs: 500, attemptOf: () => 1 };

/** Returns the facts of a node that has ended; throws the failure with which it has. */
export function settledFacts(claim: NodeClaim): NodeFacts {
  if (claim.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
  return toFacts(claim.handle, claim.alsoHandles);
}

export function toFacts(handle: Handle = 0, alsoHandles: Handle[] | null = null): NodeFacts {
  return { ...(handle !== 0 && { handle }), ...(alsoHandles !== null && { alsoHandles }) };
}
