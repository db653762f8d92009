// Writes a node's end: result, transaction and ledger together. A restart of the database does not lose the end.
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { mayBeCaught } from '../../graph/caught.js';
import type { Masker } from '../../graph/mask.js';
import { fileIdsInText } from '../../graph/file-values.js';
import { whatEveryNodeSays } from '../../graph/nodes/every-node.js';
import { toStorable } from '../../graph/storable-text.js';
import { cutText } from '../../graph/cut-text.js';
import {
  findNodeClaim,
  recordNodeEnd,
  type NodeClaim,
  type NodeEndRow,
} from '../../db/nodes/node-results-repository.js';
import { addReferences } from '../../db/files/references-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { NodeFailure, quotaFailure, type Charge } from './failures.js';
import { toResultText } from './result-text.js';
import type { NodeDeps, NodeOutcome, NodeStep, NodeTask } from './node-step.js';

/** How an attempt has ended its node. */
export interface AttemptEnd {
  outcome?: NodeOutcome;
  failure?: NodeFailure;
}

type Recorder = Pick<NodeStep<unknown>, 'chargeSoFar' | 'survives' | 'store'>;

/** A longer message is cut after the secrets in it are masked. */
const MAX_MESSAGE_CHARACTERS = 4_000;

export function toErrorMessage({ message }: Pick<Error, 'message'>, masker: Masker): string {
  return cutText(masker.text(toStorable(message)), MAX_MESSAGE_CHARACTERS);
}

function isCaught({ survives }: Recorder, data: Record<string, unknown>, code: string): boolean {
  return mayBeCaught(code) && (survives?.(code) === true || whatEveryNodeSays(data).onError !== 'fail');
}

/**
 * Idempotent. A repeat is not counted in the metrics. Returns the
 * success that an earlier attempt has recorded: the run must continue with that one, because it is what readers get.
 */
export async function recordNode(
  deps: NodeDeps,
  recorder: Recorder,
  task: NodeTask,
  end: AttemptEnd,
): Promise<NodeClaim | undefined> {
  const { run, node, runId, path, nodeId } = task;
  const texts = end.outcome && toResultText(end.outcome, task, { masker: run.masker, secretBox: deps.secretBox });
  const fileIds = fileIdsInText(texts?.plain ?? '');
  let charge: Charge | undefined;
  let isSettled = false;
  let stored: NodeClaim | undefined;
  await persist(deps, task, async () => {
    charge = end.outcome?.charge ?? end.failure?.charge ?? (await recorder.chargeSoFar?.(task));
    const row = {
      runId,
      path,
      nodeId,
      kind: node.kind,
      label: node.label,
      projectId: run.projectId,
      userId: run.userId,
      status: end.outcome ? ('succeed' as const) : ('failed' as const),
      tookMs: performance.now() - task.startedAt,
      handle: end.outcome?.handle ?? 0,
      alsoHandles: end.outcome?.alsoHandles ?? null,
      isHandled: end.failure !== undefined && isCaught(recorder, node.data, end.failure.code),
      result: texts?.result ?? null,
      resultEnc: texts?.resultEnc ?? null,
      errorCode: end.failure?.code ?? null,
      errorMessage: end.failure ? toErrorMessage(end.failure, run.masker) : null,
      amountUsd: charge?.amountUsd ?? '0',
      priceVersion: charge?.priceVersion ?? '',
      isEstimated: false,
      reason: charge?.reason ?? end.failure?.code ?? '',
    } satisfies NodeEndRow;
    // The files that a result names are there as long as the run's results, whoever has made them.
    await addReferences(deps.db, run.projectId, { kind: 'run', id: runId }, fileIds);
    const storing = recorder.store?.(row, charge?.answered) ?? recordNodeEnd(deps.db, row);
    isSettled = await storing.catch((error: unknown) => {
      throw isQuotaExceeded(error) ? quotaFailure(charge) : error;
    });
    if (!isSettled) stored = await findNodeClaim(deps.db, task);
  });
  // The output of an earlier attempt counts, and the output of this attempt is discarded.
  if (isSettled && texts !== undefined) deps.contexts.remember(task, texts.plain);
  if (isSettled) deps.metrics.nodes.inc({ kind: node.kind, outcome: end.failure?.code ?? 'succeed' });
  deps.metrics.costUsd.inc({ kind: node.kind }, Number(charge?.amountUsd ?? 0));
  return stored?.status === 'succeed' ? stored : undefined;
}

const PERSIST_FOR_MS = 4 * 60_000;
const PERSIST_WHEN_STOPPING_MS = 5_000;

/**
 * Errors of PostgreSQL's classes 22 (data) and 23 (integrity): a retry of the same write would fail in the same way.
 */
function isRefusedForGood(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
}

/**
 * An outcome that exists only in memory must survive a restart of the database, so the idempotent write is retried as
 * long as this activity lives. After that the activity fails, and the ledger decides whether the call may be repeated.
 */
export async function persist(deps: NodeDeps, task: NodeTask, write: () => Promise<void>): Promise<void> {
  const startedAt = Date.now();
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 2_000)) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ApplicationFailure || error instanceof NodeFailure) throw error;
      if (isRefusedForGood(error)) {
        deps.logger.error({ run_id: task.runId, node_id: task.nodeId, err: error }, 'an outcome cannot be recorded');
        throw new NodeFailure('internal_error', 'What the node put out could not be stored.');
      }
      const patienceMs = task.signal.aborted ? PERSIST_WHEN_STOPPING_MS : PERSIST_FOR_MS;
      if (Date.now() - startedAt > patienceMs) throw error;
      const { attempt } = activityInfo();
      deps.logger.warn({ run_id: task.runId, node_id: task.nodeId, attempt, err: error }, 'recording a node again');
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}
