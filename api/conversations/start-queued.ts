// Prepares a queued run, with its input and graph, when it is the next of its conversation. Rights and input are
// checked at this point (ADR 29).
import { prepareRun, toSentences, type PreparedRun } from '../../acceptance/prepare-run.js';
import { mayRun } from '../../acceptance/roles.js';
import { START_GRACE_SECONDS, storeRun } from '../../acceptance/store-run.js';
import { announceRunEnd } from '../../acceptance/announce-run-end.js';
import { readBranch } from '../../db/conversations/messages-repository.js';
import {
  startQueuedRun,
  findQueuedMessage,
  isNext,
  type QueuedMessage,
} from '../../db/conversations/queue-repository.js';
import { endRun } from '../../db/runs/run-life.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import type { FileValue } from '../../files/file-value.js';
import type { ConversationDeps } from './deps.js';
import { openInputs, secretsOf } from './conversation-inputs.js';
import { factsOfPurpose, findAnsweringDrawing, toInputs } from './find-drawing.js';
import { MAX_MESSAGES_BYTES, MOST_MESSAGES, toRunInput } from './message-input.js';
import { withDrawing } from '../workflows/with-drawing.js';

interface Refusal {
  code: string;
  message: string;
}

/**
 * `none`: the run is not queued. `started`: this call has prepared the run. `later`: the run must not start now, has
 * ended, or was prepared by another call.
 */
type QueueDecision = 'none' | 'started' | 'later';

/**
 * A run that is refused (`Refusal`) ends as failed. Idempotent: if the process dies, the run is still queued, or only
 * lacks its start in Temporal. Throws if the wait for memory, or in the queue for large work, takes too long or is
 * ended by `stopped`.
 */
export async function startNextQueued(
  deps: ConversationDeps,
  runId: string,
  stopped: AbortSignal,
): Promise<QueueDecision> {
  const message = await findQueuedMessage(deps.db, runId);
  if (message === undefined) return 'none';
  if (!(await isNext(deps.db, message.conversationId, runId))) return 'later';
  const refusal =
    refusalOf(message) ??
    (await withAnswering(deps, message, stopped, (workflow) => begin(deps, message, workflow, runId)));
  if (typeof refusal === 'boolean') return refusal ? 'started' : 'later';
  const change = await endRun(deps.db, runId, { status: 'failed', error: refusal });
  // If the change was not applied, the run had ended already, and the process that ended it announces the end.
  if (change.applied) announceRunEnd(deps, runId, change);
  return 'later';
}

function refusalOf({ authorRole, isChat }: QueuedMessage): Refusal | undefined {
  if (!mayRun(authorRole))
    return { code: 'author_lost_access', message: 'The author of the message may not run the workflow.' };
  return isChat ? undefined : { code: 'not_chat', message: 'The workflow is no chat any more.' };
}

/** A large drawing waits in the same fair queue as those of requests, and shares their memory limit. */
async function withAnswering<T>(
  { db, memory, heavyWork }: ConversationDeps,
  { projectId, workflowId, purpose }: QueuedMessage,
  signal: AbortSignal,
  work: (workflow: StoredDrawing) => Promise<T>,
): Promise<T | Refusal> {
  const tenant = `project:${projectId}`;
  const lease = memory.lease(tenant, signal);
  try {
    const asker = { tenant, projectId, signal, memory: lease };
    return await withDrawing<T | Refusal>({ db, heavyWork }, asker, { workflowId, form: 'parsed' }, async () => {
      const workflow = await findAnsweringDrawing(db, { workflowId, purpose });
      return workflow === undefined
        ? { code: 'workflow_not_found', message: 'The workflow was deleted.' }
        : work(workflow);
    });
  } finally {
    lease.end();
  }
}

async function begin(
  deps: ConversationDeps,
  message: QueuedMessage,
  workflow: StoredDrawing,
  runId: string,
): Promise<boolean | Refusal> {
  const { db, secretBox, snapshots } = deps;
  const { conversationId } = message;
  const stored = openInputs(secretBox, conversationId, message.inputsEnc);
  const content = openContent(secretBox, message);
  if (stored === undefined || content === undefined)
    return { code: 'input_unreadable', message: 'The inputs cannot be opened with the keys of this service.' };
  const prepared = await prepareRun(deps, {
    workflow,
    userId: message.authorId,
    runId,
    input: toRunInput({
      conversationId,
      content,
      files: message.files as unknown as FileValue[],
      inputs: toInputs(message, stored.input),
      before: await readBranch(db, message.follows, { most: MOST_MESSAGES, maxBytes: MAX_MESSAGES_BYTES }),
      drawing: workflow.document,
    }),
    passedSecrets: secretsOf(stored),
  });
  if (!prepared.ok)
    return { code: 'invalid_workflow', message: prepared.errors[0]?.message ?? 'The drawing cannot run.' };
  const { facts, nodeErrors, plan }: PreparedRun = prepared.run;
  if (Object.keys(nodeErrors).length > 0) return { code: 'invalid_nodes', message: toSentences(nodeErrors) };
  return storeRun(snapshots, { document: workflow.document, plan }, (snapshotHash) =>
    startQueuedRun(db, conversationId, {
      run: { ...facts, ...factsOfPurpose(message.purpose), snapshot_hash: snapshotHash },
      checkInSeconds: START_GRACE_SECONDS,
    }),
  );
}

/** Returns undefined if the key that sealed the message was withdrawn. */
function openContent(
  box: ConversationDeps['secretBox'],
  { id, content, contentEnc }: QueuedMessage,
): string | undefined {
  if (contentEnc === null) return content;
  try {
    return box.open(contentEnc, 'message', id);
  } catch {
    return undefined;
  }
}
