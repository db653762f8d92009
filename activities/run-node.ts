// The frame around every node: claim, heartbeat, run, record. What a kind does itself is in <kind>.ts.
//
// When the process dies: before the claim, nothing happened. After it, the next try finds `in progress` and runs the
// node again (calls that must not repeat are guarded by the ledger). After the record, the next try finds the stored
// end and returns it without running anything.
import { activityInfo, ApplicationFailure, Context, heartbeat } from '@temporalio/activity';
import type { Logger } from '../config/logger.js';
import type { Database, Db } from '../db/client.js';
import {
  claimNode,
  findNodeClaim,
  recordNodeEnd,
  type NodeClaim,
  type NodeKey,
} from '../db/node-results-repository.js';
import type { SecretBox } from '../db/secret-box.js';
import type { Branch, NodeKind } from '../graph/plan.js';
import { RenderedTooLargeError, type NodeOutput } from '../graph/template.js';
import { finalFailure, NodeFailure, retryableFailure, runClosedFailure, type Charge } from './failures.js';
import type { RunContext, RunContexts, RunNode } from './run-context.js';
import { toResultText } from './result-text.js';

export interface NodeDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  logger: Logger;
}

/** All that a node activity gets from and gives to the run workflow, and so to Temporal's history. */
export type NodeRef = NodeKey;
export interface NodeFacts {
  branch?: Branch;
}

export interface NodeOutcome {
  output: NodeOutput;
  branch?: Branch;
  charge?: Charge;
}

export interface NodeTask extends NodeKey {
  run: RunContext;
  node: RunNode;
  /** Aborted when the run is cancelled or the worker must stop. */
  signal: AbortSignal;
}

export interface NodeKindRunner {
  kind: NodeKind;
  /** Tries in all, the first included; tries that a dying worker took down count. */
  maxAttempts: number;
  /** Delay before the second try; doubles after that, unless the other side says how long. */
  firstDelayMs: number;
  execute(task: NodeTask): Promise<NodeOutcome>;
  /** Written in one transaction with the node's end. */
  onRecord?: (db: Db, node: NodeKey) => Promise<void>;
}

const HEARTBEAT_EVERY_MS = 2_000;
/** A provider that asks for more patience than this is answered with a failed node. */
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;
const LONGEST_DELAY_MS = 60_000;

/** Runs a node that calls something outside: a normal activity. */
export async function runNode(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  const beat = setInterval(() => heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    const claim = await claimNode(deps.db, ref);
    if (claim === undefined) throw runClosedFailure();
    if (claim.status !== 'in progress') return settledFacts(claim);
    return await tryNode(deps, ref, runner, claim.attempts);
  } finally {
    clearInterval(beat);
  }
}

/** Runs a node that only reads and decides: a local activity, repeated by Temporal when its workflow task is. */
export async function runLocalNode(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner): Promise<NodeFacts> {
  const known = await findNodeClaim(deps.db, ref);
  if (known !== undefined && known.status !== 'in progress') return settledFacts(known);
  return tryNode(deps, ref, runner, 1);
}

function settledFacts(claim: NodeClaim): NodeFacts {
  if (claim.status === 'failed') throw finalFailure(claim.errorCode ?? 'internal_error');
  return claim.branch === 0 ? {} : { branch: claim.branch };
}

async function tryNode(deps: NodeDeps, ref: NodeRef, runner: NodeKindRunner, attempt: number): Promise<NodeFacts> {
  const run = await deps.contexts.load(ref.runId);
  const node = run.node(ref.nodeId);
  if (node === undefined) throw finalFailure('internal_error');
  const task: NodeTask = { ...ref, run, node, signal: Context.current().cancellationSignal };
  const record = (end: Pick<NodeEndFacts, 'outcome' | 'failure'>) => recordEnd(deps, runner, task, end);
  try {
    if (attempt > runner.maxAttempts) {
      throw new NodeFailure('worker_lost', `The node was given up: its worker died ${attempt - 1} times while it ran.`);
    }
    const outcome = await runner.execute(task);
    await record({ outcome });
    return outcome.branch === undefined ? {} : { branch: outcome.branch };
  } catch (thrown) {
    const error = thrown instanceof RenderedTooLargeError ? tooLarge(thrown) : thrown;
    if (task.signal.aborted) return await stopNode(error, record);
    if (!(error instanceof NodeFailure)) throw error;
    const delayMs = error.retryAfterMs ?? Math.min(runner.firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
    if (error.isRetryable && attempt < runner.maxAttempts && delayMs <= LONGEST_RETRY_AFTER_MS) {
      throw retryableFailure(error.code, delayMs);
    }
    await record({ failure: error });
    throw finalFailure(error.code);
  }
}

/** The run was cancelled (or another node failed): settle as cancelled. A stopping worker hands the node back. */
async function stopNode(error: unknown, record: (end: { failure: NodeFailure }) => Promise<void>): Promise<never> {
  const reason = Context.current().cancellationDetails;
  if (reason?.workerShutdown) throw retryableFailure('worker_shutdown', 0);
  if (reason?.cancelRequested) {
    const charge = error instanceof NodeFailure ? error.charge : undefined;
    await record({
      failure: new NodeFailure('cancelled', 'The node was cancelled because the run ended.', { charge }),
    });
  }
  return Context.current().cancelled;
}

function tooLarge({ message }: RenderedTooLargeError): NodeFailure {
  return new NodeFailure('rendered_too_large', message);
}

interface NodeEndFacts {
  outcome?: NodeOutcome;
  failure?: NodeFailure;
}

async function recordEnd(deps: NodeDeps, runner: NodeKindRunner, task: NodeTask, end: NodeEndFacts): Promise<void> {
  const { run, node, runId, nodeId } = task;
  const charge = end.outcome?.charge ?? end.failure?.charge;
  const { result, resultEnc } = end.outcome
    ? toResultText(end.outcome.output, run.masker, deps.secretBox)
    : { result: null, resultEnc: null };
  const row = {
    runId,
    nodeId,
    kind: node.kind,
    label: node.label,
    projectId: run.projectId,
    userId: run.userId,
    status: end.outcome ? ('succeed' as const) : ('failed' as const),
    branch: end.outcome?.branch ?? 0,
    result,
    resultEnc,
    errorCode: end.failure?.code ?? null,
    errorMessage: end.failure ? run.masker.text(end.failure.message.replaceAll('\0', '\uFFFD')) : null,
    amountUsd: charge?.amountUsd ?? '0',
    priceVersion: charge?.priceVersion ?? '',
    reason: charge?.reason ?? end.failure?.code ?? '',
    usage: charge?.usage ?? null,
  } satisfies Parameters<typeof recordNodeEnd>[1];
  await persist(deps, task, async () => {
    if (runner.onRecord === undefined) return recordNodeEnd(deps.db, row);
    await deps.db.transaction().execute(async (trx) => {
      await recordNodeEnd(trx, row);
      await runner.onRecord?.(trx, { runId, nodeId });
    });
  });
}

const PERSIST_FOR_MS = 4 * 60_000;

/**
 * An outcome that is in memory only must not be thrown away because the database is restarting: the write is repeated
 * (it is idempotent) while this activity lives. After that the activity fails and the ledger decides about a new call.
 */
async function persist(deps: NodeDeps, task: NodeTask, write: () => Promise<void>): Promise<void> {
  const startedAt = Date.now();
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 2_000)) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ApplicationFailure || Date.now() - startedAt > PERSIST_FOR_MS) throw error;
      const { attempt } = activityInfo();
      deps.logger.warn({ run_id: task.runId, node_id: task.nodeId, attempt, err: error }, 'recording a node again');
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}
