// How a node's end is written: result, transaction and ledger together, and not lost to a database that is restarting.
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { recordNodeEnd } from '../db/node-results-repository.js';
import type { Charge, NodeFailure } from './failures.js';
import { toResultText } from './result-text.js';
import type { NodeDeps, NodeOutcome, NodeStep, NodeTask } from './run-node.js';

export interface NodeEnd {
  outcome?: NodeOutcome;
  failure?: NodeFailure;
}

type Recorder = Pick<NodeStep<unknown>, 'chargeSoFar' | 'onRecord'>;

/** Idempotent. */
export async function recordNode(deps: NodeDeps, recorder: Recorder, task: NodeTask, end: NodeEnd): Promise<void> {
  const { run, node, runId, nodeId } = task;
  const { result, resultEnc } = end.outcome
    ? toResultText(end.outcome.output, run.masker, deps.secretBox)
    : { result: null, resultEnc: null };
  await persist(deps, task, async () => {
    const charge: Charge | undefined =
      end.outcome?.charge ?? end.failure?.charge ?? (await recorder.chargeSoFar?.(task));
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
    if (recorder.onRecord === undefined) return recordNodeEnd(deps.db, row);
    await deps.db.transaction().execute(async (trx) => {
      await recordNodeEnd(trx, row);
      await recorder.onRecord?.(trx, { runId, nodeId });
    });
  });
}

const PERSIST_FOR_MS = 4 * 60_000;

/**
 * An outcome that is in memory only must not be thrown away because the database is restarting: the write is repeated
 * (it is idempotent) while this activity lives. After that the activity fails and the ledger decides about a new call.
 */
export async function persist(deps: NodeDeps, task: NodeTask, write: () => Promise<void>): Promise<void> {
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
