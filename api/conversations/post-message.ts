// Accepts a message: stores it together with its run, which starts at once or is queued (ADR 29).
import { randomUUID } from 'node:crypto';
import { prepareRun, type PreparedRun } from '../../acceptance/prepare-run.js';
import { START_GRACE_SECONDS, storeRun } from '../../acceptance/store-run.js';
import { announceRunEnd } from '../../acceptance/announce-run-end.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import type { ConversationRecord } from '../../db/conversations/conversations-repository.js';
import { findBranch, readBranch, type Branch, type Exchange } from '../../db/conversations/messages-repository.js';
import {
  checkNextQueued,
  cancelQueue,
  insertMessage,
  lockQueue,
  MOST_MESSAGES_IN_ALL,
  MOST_QUEUED,
  MOST_WAITING,
  type CancelledRuns,
  type ConversationQueue,
} from '../../db/conversations/queue-repository.js';
import type { Db } from '../../db/core/client.js';
import { inTransaction } from '../../db/core/in-transaction.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { FileValue } from '../../files/file-value.js';
import { isObject, ownValue } from '../../graph/json.js';
import type { ConversationDeps } from './deps.js';
import { toRefusedInput } from '../runs/refused-input.js';
import { ApiError, invalidFields, notFound, orNotFound, quotaExceeded } from '../http/errors.js';
import { endTurn } from '../http/heavy-work.js';
import { startWithoutWaiting, storeOnce } from '../runs/accept-run.js';
import { unlessFileGone } from '../../db/files/references-repository.js';
import { findFirstAnswer, type KeyedRequest } from '../runs/idempotency.js';
import { invalidNodesEnvelope, structuralEnvelope } from '../envelope/run-envelope.js';
import { traceOfAcceptance } from '../runs/run-traces.js';
import { cancelRunWorkflow } from '../runs/temporal-calls.js';
import { openInputs, secretsOf } from './conversation-inputs.js';
import { factsOfPurpose, findAnsweringDrawing, toInputs } from './find-drawing.js';
import { MAX_MESSAGES_BYTES, MOST_MESSAGES, toRunInput } from './message-input.js';
import { loadFiles, type PostedMessage } from './read-message.js';
import { RefusedMessage } from './refused-message.js';

interface Posting {
  conversation: ConversationRecord;
  posted: PostedMessage;
  doer: Doer;
  keyed: KeyedRequest | undefined;
}

interface StoredMessage {
  cancelled: CancelledRuns;
  isQueued: boolean;
}

const NONE: CancelledRuns = { ended: [], toNotify: [] };

/**
 * Returns the run of the message, or that of the first request with the same key. Throws `RefusedMessage` if the
 * drawing cannot be compiled or the input or a file is refused, 409 `busy`, 409 `queue_full` or `conversation_full`
 * above the limits, and 409 `input_unreadable`. Nothing is stored then, not even the key.
 */
export async function postMessage(
  deps: ConversationDeps,
  log: Logger,
  posting: Posting,
): Promise<{ runId: string; isRepeat: boolean }> {
  for (;;) {
    const first = posting.keyed && (await findFirstAnswer(deps, posting.keyed));
    if (first !== undefined) return { runId: first.data.id!, isRepeat: true };
    const runId = await tryPost(deps, log, posting).catch(unlessFileGone);
    if (runId !== undefined) return { runId, isRepeat: false };
    // A concurrent request with the same key was faster, and its run is stored now; or a file is gone, which the next
    // attempt reports.
  }
}

/**
 * Returns undefined if another request has claimed the key meanwhile, and throws `FileGone` if a file was deleted
 * meanwhile. Nothing was stored then.
 */
async function tryPost(deps: ConversationDeps, log: Logger, posting: Posting): Promise<string | undefined> {
  const { db, snapshots } = deps;
  const { conversation, posted, keyed } = posting;
  const workflow = orNotFound(await findAnsweringDrawing(db, conversation));
  const files = await loadFiles(db, conversation.projectId, posted.fileIds);
  const { branch, before } = await readPosition(db, posting);
  const prepared = await prepare(deps, posting, { workflow, files, before });
  const { id } = prepared.facts;
  const stored: { last?: StoredMessage } = {};
  const isStored = await storeRun(snapshots, { document: workflow.document, plan: prepared.plan }, (snapshotHash) => {
    const run = {
      ...prepared.facts,
      ...factsOfPurpose(conversation.purpose),
      ...traceOfAcceptance(id),
      snapshot_hash: snapshotHash,
    };
    const message = { posting, workflow, prepared, run, branch, before, files };
    return storeOnce(deps, keyed, id, (one) =>
      inTransaction(one, async (transaction) => {
        stored.last = await storeInQueue(deps, transaction, message);
      }),
    );
  }).catch((error: unknown) => {
    throw isQuotaExceeded(error) ? quotaExceeded() : error;
  });
  if (!isStored || stored.last === undefined) return undefined;
  deps.metrics.runsAccepted.inc({ outcome: 'accepted' });
  await reportCancelled(deps, log, stored.last.cancelled);
  if (!stored.last.isQueued) await startWithoutWaiting(deps, log, workflow, prepared);
  return id;
}

async function readPosition(
  db: Db,
  { conversation, posted }: Posting,
): Promise<{ branch: Branch; before: Exchange[] }> {
  const branch = await findBranch(db, conversation.id, posted.replaces);
  if (branch === undefined) throw invalidFields({ replaces: ['The conversation has no such message.'] });
  return { branch, before: await readBranch(db, branch.follows, BOUNDS) };
}

const BOUNDS = { most: MOST_MESSAGES, maxBytes: MAX_MESSAGES_BYTES };

/**
 * Throws `RefusedMessage` for a drawing that cannot be compiled, because there would be no graph to store, and 409 if
 * the inputs of the conversation cannot be opened.
 */
async function prepare(
  deps: ConversationDeps,
  { conversation, posted }: Posting,
  { workflow, files, before }: { workflow: StoredDrawing; files: FileValue[]; before: Exchange[] },
): Promise<PreparedRun> {
  const stored = openInputs(deps.secretBox, conversation.id, conversation.inputsEnc);
  if (stored === undefined)
    throw new ApiError(409, 'input_unreadable', 'The inputs cannot be opened with the keys of this service.');
  const prepared = await prepareRun(deps, {
    workflow,
    userId: conversation.authorId,
    input: toRunInput({
      conversationId: conversation.id,
      content: posted.content,
      files,
      inputs: toInputs(conversation, stored.input),
      before,
      drawing: workflow.document,
    }),
    passedSecrets: secretsOf(stored),
  });
  if (prepared.ok) return prepared.run;
  throw new RefusedMessage(toRefusedInput(structuralEnvelope(prepared.errors), workflow.document));
}

interface MessageToStore extends Awaited<ReturnType<typeof readPosition>> {
  posting: Posting;
  workflow: StoredDrawing;
  prepared: PreparedRun;
  run: Parameters<typeof insertMessage>[2]['run'];
  files: FileValue[];
}

/**
 * Decides within the transaction whether to refuse the message, or to store it with its run, which then starts or is
 * queued. With `on_busy: stop`, the current and queued runs are cancelled first, but none that waits for a person. A
 * lock serializes the messages of a conversation.
 */
async function storeInQueue(deps: ConversationDeps, transaction: Db, message: MessageToStore): Promise<StoredMessage> {
  const { posting, workflow, prepared, run, branch, before, files } = message;
  const { conversation, posted, doer } = posting;
  const turns = await lockQueue(transaction, conversation.id);
  if (turns === undefined) throw notFound();
  const isBusy = turns.current.length + turns.queued.length > 0;
  const isStopped = isBusy && posted.onBusy === 'stop';
  const mustWait = turns.current.length > 0 || (turns.queued.length > 0 && !isStopped);
  if (isBusy && posted.onBusy === 'reject')
    throw new ApiError(409, 'busy', 'An earlier message of the conversation is being answered.');
  const full = limitError(turns, isStopped);
  if (full !== undefined) throw full;
  const hasErrors = Object.keys(prepared.nodeErrors).length > 0;
  if (!mustWait && hasErrors)
    throw new RefusedMessage(toRefusedInput(invalidNodesEnvelope(null, prepared.nodeErrors), workflow.document));
  // If another message or an answer was stored after the run was prepared, the run is queued, and so prepared again.
  const now = await readPosition(transaction, posting);
  const isCurrent = now.branch.follows === branch.follows && fingerprintOf(now.before) === fingerprintOf(before);
  const isQueued = mustWait || !isCurrent;
  const cancelled = isStopped
    ? await cancelQueue(transaction, turns, { doer, startGraceSeconds: START_GRACE_SECONDS })
    : NONE;
  const id = randomUUID();
  const content = visibleContent(prepared);
  const contentEnc = content === posted.content ? null : deps.secretBox.seal(posted.content, 'message', id);
  const { id: conversationId, projectId } = conversation;
  await insertMessage(
    transaction,
    { id, conversationId, projectId, branch: now.branch, content, contentEnc, files },
    { run, isQueued, checkInSeconds: START_GRACE_SECONDS },
  );
  if (!mustWait && isQueued) await checkNextQueued(transaction, conversationId);
  return { cancelled, isQueued };
}

function limitError({ queued, waiting, messages }: ConversationQueue, isStopped: boolean): ApiError | undefined {
  if (!isStopped && queued.length >= MOST_QUEUED)
    return new ApiError(409, 'queue_full', `At most ${MOST_QUEUED} messages of a conversation may be queued.`);
  if (waiting.length >= MOST_WAITING)
    return new ApiError(409, 'queue_full', `At most ${MOST_WAITING} runs of a conversation may wait for people.`);
  if (messages < MOST_MESSAGES_IN_ALL) return undefined;
  return new ApiError(409, 'conversation_full', `A conversation may have ${MOST_MESSAGES_IN_ALL} messages.`);
}

function fingerprintOf(before: readonly Exchange[]): string {
  return before.map(({ id, answer }) => `${id} ${answer !== null}`).join();
}

/** Returns the message with secrets masked, as in the run's stored input. */
function visibleContent({ facts }: PreparedRun): string {
  const input: unknown = JSON.parse(facts.input);
  const message = isObject(input) ? ownValue(input, 'message') : undefined;
  return typeof message === 'string' ? message : '';
}

/**
 * Never throws: the reconciler repeats a cancel that Temporal does not receive here. Ends the turn of the large work
 * that calls this, because Temporal may be slow.
 */
export async function reportCancelled(
  deps: ConversationDeps,
  log: Logger,
  { ended, toNotify }: CancelledRuns,
): Promise<void> {
  for (const { runId, outcome } of ended) announceRunEnd(deps, runId, outcome);
  endTurn();
  await Promise.all(
    toNotify.map((runId) =>
      cancelRunWorkflow(deps.temporal, runId).catch((error: unknown) => {
        log.warn({ err: error, run_id: runId }, 'cancel not delivered yet; the reconciler will deliver it');
      }),
    ),
  );
}
