// Records how an attempt ended: the end of its node (result, transaction and ledger together), or that another attempt
// follows. A restart of the database does not lose the end of a node.
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { mayBeCaught } from '../../graph/caught.js';
import { cutText } from '../../graph/cut-text.js';
import { fileIdsInText } from '../../graph/file-values.js';
import type { Masker } from '../../graph/mask.js';
import type { NodeError } from '../../graph/node-error.js';
import { commonSettingsOf } from '../../graph/nodes/every-node.js';
import { toStorable } from '../../graph/storable-text.js';
import { outageOf } from '../../db/core/outage.js';
import { addReferences } from '../../db/files/references-repository.js';
import { recordEndedAttempt } from '../../db/nodes/node-attempts-repository.js';
import {
  findNodeClaim,
  uncountNodeAttempt,
  type NodeClaim,
  type NodeEndRow,
} from '../../db/nodes/node-results-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import { NodeFailure, quotaFailure, type Charge } from './failures.js';
import type { NodeDeps, NodeOutcome, NodeStep, NodeTask } from './node-step.js';
import { toResultText } from './result-text.js';

interface NodeEnd {
  outcome?: NodeOutcome;
  failure?: NodeFailure;
}

type Recording = Pick<NodeStep<unknown>, 'chargeSoFar' | 'survives' | 'store'>;

/**
 * Idempotent. A repeat is not counted in the metric of ended nodes, but its charge is added to the metric of costs. If
 * another attempt has recorded an end, returns that end: readers may have seen it, so the run must continue with it.
 * Throws a `NodeFailure` if the project's quota or PostgreSQL refuses what is to be stored.
 */
export async function recordNode(
  deps: NodeDeps,
  step: Recording,
  task: NodeTask,
  { outcome, failure }: NodeEnd,
): Promise<NodeClaim | undefined> {
  const { run, node, runId, path, nodeId } = task;
  const texts = outcome && toResultText(outcome, task, { masker: run.masker, secretBox: deps.secretBox });
  const fileIds = fileIdsInText(texts?.plain ?? '');
  let charge: Charge | undefined;
  let isRecorded = false;
  let earlier: NodeClaim | undefined;
  await persist(deps, task, async () => {
    charge = outcome?.charge ?? failure?.charge ?? (await step.chargeSoFar?.(task));
    const row = {
      runId,
      path,
      nodeId,
      kind: node.kind,
      label: node.label,
      projectId: run.projectId,
      userId: run.userId,
      status: outcome ? ('succeed' as const) : ('failed' as const),
      tookMs: performance.now() - task.startedAt,
      handle: outcome?.handle ?? 0,
      alsoHandles: outcome?.alsoHandles ?? null,
      isHandled: failure !== undefined && isCaught(step, node.data, failure.code),
      result: texts?.result ?? null,
      resultEnc: texts?.resultEnc ?? null,
      errorCode: failure?.code ?? null,
      errorMessage: failure ? toErrorMessage(failure, run.masker) : null,
      amountUsd: charge?.amountUsd ?? '0',
      priceVersion: charge?.priceVersion ?? '',
      isEstimated: false,
      reason: charge?.reason ?? failure?.code ?? '',
    } satisfies NodeEndRow;
    // A file that a result names lives at least as long as the run's results, no matter who created it.
    await addReferences(deps.db, run.projectId, { kind: 'run', id: runId }, fileIds);
    const storing = step.store?.(row, charge?.answered) ?? deps.writes.recordEnd(row);
    isRecorded = await storing.catch((error: unknown) => {
      throw isQuotaExceeded(error) ? quotaFailure(charge) : error;
    });
    if (!isRecorded) earlier = await findNodeClaim(deps.db, task);
  });
  if (isRecorded && texts !== undefined) deps.contexts.remember(task, texts.plain);
  if (isRecorded) deps.metrics.nodes.inc({ kind: node.kind, outcome: failure?.code ?? 'succeed' });
  deps.metrics.costUsd.inc({ kind: node.kind }, Number(charge?.amountUsd ?? 0));
  return isRecorded ? undefined : earlier;
}

function isCaught({ survives }: Recording, data: Record<string, unknown>, code: string): boolean {
  return mayBeCaught(code) && (survives?.(code) === true || commonSettingsOf(data).onError !== 'fail');
}

/** The message is cut after its secrets are masked. */
const MAX_MESSAGE_CHARACTERS = 4_000;

export function toErrorMessage({ message }: Pick<Error, 'message'>, masker: Masker): string {
  return cutText(masker.text(toStorable(message)), MAX_MESSAGE_CHARACTERS);
}

const PERSIST_FOR_MS = 4 * 60_000;
/**
 * The limit on the retries while the database is away or full. The limits of activities allow for it
 * (temporal-workflows/activity-options.ts).
 */
export const PERSIST_WHILE_AWAY_MS = 30 * 60_000;
const PERSIST_WHEN_STOPPING_MS = 5_000;

/** PostgreSQL's error classes 22 (data) and 23 (integrity). A retry of the same write would fail again. */
function isPermanent(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
}

/**
 * Retries an idempotent write for up to four minutes, and for half an hour while the database is away or full, because
 * an outcome that exists only in memory must survive that. An attempt that must stop gets 5 s in all. After that the
 * activity fails, and the ledger decides if the call may be repeated. Throws a `NodeFailure` at once if PostgreSQL
 * refuses the data (`isPermanent`).
 */
export async function persist(
  deps: Pick<NodeDeps, 'logger'>,
  task: NodeTask,
  write: () => Promise<void>,
): Promise<void> {
  const startedAt = Date.now();
  for (let delayMs = 100, longestMs = 2_000; ; delayMs = Math.min(delayMs * 2, longestMs)) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ApplicationFailure || error instanceof NodeFailure) throw error;
      if (isPermanent(error)) {
        deps.logger.error({ run_id: task.runId, node_id: task.nodeId, err: error }, 'an outcome cannot be recorded');
        throw new NodeFailure('internal_error', 'What the node put out could not be stored.');
      }
      const isAway = outageOf(error) !== undefined;
      longestMs = isAway ? 5_000 : 2_000;
      const whileRunningMs = isAway ? PERSIST_WHILE_AWAY_MS : PERSIST_FOR_MS;
      const limitMs = task.signal.aborted ? PERSIST_WHEN_STOPPING_MS : whileRunningMs;
      if (Date.now() - startedAt > limitMs) throw error;
      const { attempt } = activityInfo();
      deps.logger.warn({ run_id: task.runId, node_id: task.nodeId, attempt, err: error }, 'recording a node again');
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

/**
 * Records an attempt that another one follows. Never throws: without the record, the next attempt treats
 * this one as lost with its worker.
 */
export async function recordRetried(
  deps: Pick<NodeDeps, 'db' | 'logger'>,
  step: Pick<NodeStep<unknown>, 'isClaimed'>,
  task: NodeTask,
  error: NodeError,
): Promise<void> {
  if (!step.isClaimed) return;
  const { runId, path, nodeId, attempt: number, run, startedAt } = task;
  const message = toErrorMessage(error, run.masker);
  const ended = { runId, path, nodeId, number, code: error.code, message, tookMs: performance.now() - startedAt };
  const problem = 'the end of an attempt that is retried was not recorded';
  await tryBriefly(deps.logger, task, problem, () => recordEndedAttempt(deps.db, ended));
}

/** Removes an attempt that has done nothing from the attempt count. Never throws. */
export async function uncountAttempt(
  deps: Pick<NodeDeps, 'db' | 'logger'>,
  step: Pick<NodeStep<unknown>, 'isClaimed'>,
  task: NodeTask,
): Promise<void> {
  const problem = 'an attempt that has done nothing is still counted';
  if (step.isClaimed)
    await tryBriefly(deps.logger, task, problem, () => uncountNodeAttempt(deps.db, task, task.attempt));
}

/** The limit on `recordRetried` and `uncountAttempt`: the next attempt waits for them, even if the database is away. */
const RECORD_RETRIED_WITHIN_MS = 2_000;

async function tryBriefly(
  logger: NodeDeps['logger'],
  { runId, nodeId }: NodeTask,
  problem: string,
  write: () => Promise<void>,
): Promise<void> {
  const limit = startDeadline(RECORD_RETRIED_WITHIN_MS);
  try {
    await untilAborted(write(), limit.signal);
  } catch (cause) {
    logger.warn({ run_id: runId, node_id: nodeId, err: cause }, problem);
  } finally {
    limit.clear();
  }
}
