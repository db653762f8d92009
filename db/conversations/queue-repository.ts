// Decides which run of a conversation may run, and which ones are queued behind it (ADR 29). A lock on the
// conversation's row serializes these decisions. Lock order: conversation, runs, messages.
import { sql } from 'kysely';
import type { Doer } from '../audit/audit-entry.js';
import { recordChange } from '../audit/record-change.js';
import type { Database, Db } from '../core/client.js';
import type { ConversationPurpose, Role } from '../core/tables.js';
import { addReferences, holdFiles } from '../files/references-repository.js';
import { endRun, type RunChange } from '../runs/run-life.js';
import { insertAcceptedRun, requestCancel, type RunFacts } from '../runs/runs-repository.js';
import { keepBaseline } from './baselines-repository.js';
import { takesMessages } from './conversations-repository.js';
import type { Branch } from './messages-repository.js';
import { cutText } from '../../graph/cut-text.js';

/** The limit on queued messages of a conversation. */
export const MOST_QUEUED = 20;
/** The limit on runs of a conversation that wait for people, because `lockQueue` reads all of them. */
export const MOST_WAITING = 100;
export const MOST_MESSAGES_IN_ALL = 10_000;

const MAX_TITLE_CHARACTERS = 80;

/** The ids of a conversation's open runs, in the order of their messages. */
export interface ConversationQueue {
  /** Runs that are not queued and do not wait for a person. */
  current: string[];
  /** Runs that wait for a person: they block no other run. */
  waiting: string[];
  queued: string[];
  messages: number;
}

/**
 * Until the commit, locks the conversation and those of its open runs that are not queued. Waits for a run that is
 * ending; a run that ends later sees what this transaction stores. Returns undefined if the conversation was deleted.
 */
export async function lockQueue(transaction: Db, conversationId: string): Promise<ConversationQueue | undefined> {
  const locked = await sql`SELECT FROM conversations WHERE id = ${conversationId} FOR NO KEY UPDATE`.execute(
    transaction,
  );
  if (locked.rows.length === 0) return undefined;
  const last = await sql<{ ordinal: number }>`
    SELECT coalesce(max(ordinal), 0) AS ordinal FROM conversation_messages WHERE conversation_id = ${conversationId}`.execute(
    transaction,
  );
  // Queued runs are not locked, because `check_next_queued` skips locked ones.
  await sql`
    SELECT FROM runs WHERE conversation_id = ${conversationId} AND status = 'In Progress' AND NOT is_queued
    ORDER BY created_at, id FOR SHARE`.execute(transaction);
  const { rows } = await sql<{ id: string; isQueued: boolean; isWaiting: boolean }>`
    SELECT run.id, is_queued AS "isQueued", NOT is_queued AND waits_for_person(run.id) AS "isWaiting"
    FROM runs AS run JOIN conversation_messages AS message ON message.run_id = run.id
    WHERE run.conversation_id = ${conversationId} AND run.status = 'In Progress'
    ORDER BY message.ordinal`.execute(transaction);
  const idsOf = (some: typeof rows): string[] => some.map(({ id }) => id);
  return {
    current: idsOf(rows.filter(({ isQueued, isWaiting }) => !isQueued && !isWaiting)),
    waiting: idsOf(rows.filter(({ isWaiting }) => isWaiting)),
    queued: idsOf(rows.filter(({ isQueued }) => isQueued)),
    messages: last.rows[0]?.ordinal ?? 0,
  };
}

export interface NewMessage {
  id: string;
  conversationId: string;
  projectId: number;
  branch: Branch;
  content: string;
  contentEnc: Buffer | null;
  files: readonly { file_id: string }[];
}

/** Stores the message together with its run, in the transaction that holds the conversation's lock. */
export async function insertMessage(
  transaction: Db,
  message: NewMessage,
  { run, isQueued, checkInSeconds }: { run: RunFacts; isQueued: boolean; checkInSeconds: number },
): Promise<void> {
  const { id, conversationId, projectId, branch, content, contentEnc, files } = message;
  await insertAcceptedRun(
    transaction,
    { ...run, conversation_id: conversationId, is_queued: isQueued, is_plain: !isQueued && run.is_plain },
    checkInSeconds,
  );
  if (run.purpose === 'assistant' && !isQueued) await keepBaseline(transaction, conversationId, run.id);
  await sql`
    INSERT INTO conversation_messages
      (id, conversation_id, ordinal, run_id, follows, replaces, content, content_enc, files)
    SELECT ${id}, ${conversationId}, coalesce(max(ordinal), 0) + 1, ${run.id}::uuid, ${branch.follows}::uuid, ${branch.replaces}::uuid,
      ${content}, ${contentEnc}::bytea, ${JSON.stringify(files)}::json
    FROM conversation_messages WHERE conversation_id = ${conversationId}`.execute(transaction);
  const fileIds = files.map(({ file_id: fileId }) => fileId);
  await holdFiles(transaction, projectId, { kind: 'message', id }, fileIds);
  const title = cutText(content.trim().split('\n', 1)[0]!, MAX_TITLE_CHARACTERS);
  await transaction
    .updateTable('conversations')
    .set({ title })
    .where('id', '=', conversationId)
    .where('title', '=', '')
    .execute();
}

/** Makes the first queued run due for the reconciler, as the end of a run does. Requires a transaction. */
export async function checkNextQueued(transaction: Db, conversationId: string): Promise<void> {
  await sql`SELECT check_next_queued(${conversationId}::uuid)`.execute(transaction);
}

export interface QueuedMessage {
  id: string;
  conversationId: string;
  workflowId: number;
  projectId: number;
  authorId: number;
  /** Null if the author is no longer an active member of the project. */
  authorRole: Role | null;
  purpose: ConversationPurpose;
  /** False if it is a message to a workflow that is no longer a chat. */
  isChat: boolean;
  inputsEnc: Buffer;
  content: string;
  contentEnc: Buffer | null;
  files: Record<string, unknown>[];
  follows: string | null;
}

/** Returns undefined if the run is not a queued run of a conversation, or has ended. */
export async function findQueuedMessage(db: Db, runId: string): Promise<QueuedMessage | undefined> {
  const { rows } = await sql<QueuedMessage>`
    SELECT message.id, message.conversation_id AS "conversationId", run.workflow_id AS "workflowId",
      run.project_id AS "projectId", run.user_id AS "authorId", member.role AS "authorRole",
      conversations.purpose, ${takesMessages} AS "isChat",
      conversations.inputs_enc AS "inputsEnc", message.content, message.content_enc AS "contentEnc",
      message.files, message.follows
    FROM runs AS run JOIN conversation_messages AS message ON message.run_id = run.id
      JOIN conversations ON conversations.id = message.conversation_id
      JOIN workflows ON workflows.id = run.workflow_id
      JOIN users AS author ON author.id = run.user_id
      LEFT JOIN project_members AS member
        ON member.project_id = run.project_id AND member.user_id = author.id AND author.is_active
    WHERE run.id = ${runId} AND run.is_queued AND run.status = 'In Progress'`.execute(db);
  return rows[0];
}

/**
 * Returns true if no run is before the queued one. The end of the previous run makes the queued run due, but skips it
 * while the reconciler holds the lock on its row. So this check waits for a run that is ending (`lockQueue`), and the
 * queued run is not forgotten.
 */
export function isNext(db: Database, conversationId: string, runId: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => isFirst(await lockQueue(transaction, conversationId), runId));
}

function isFirst(turns: ConversationQueue | undefined, runId: string): boolean {
  return turns !== undefined && turns.current.length === 0 && turns.queued[0] === runId;
}

/**
 * Takes a run out of the queue if it is the next one and its cancellation was not requested: stores its input and its
 * graph. Returns true if this call has done so; the run can then be started in Temporal. Atomic.
 */
export function startQueuedRun(
  db: Database,
  conversationId: string,
  { run, checkInSeconds }: { run: RunFacts; checkInSeconds: number },
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    if (!isFirst(await lockQueue(transaction, conversationId), run.id)) return false;
    const updated = await transaction
      .updateTable('runs')
      .set({
        is_queued: false,
        is_plain: run.is_plain,
        workflow_version: run.workflow_version ?? null,
        snapshot_hash: run.snapshot_hash,
        input: run.input,
        input_enc: run.input_enc ?? null,
        secrets_enc: run.secrets_enc ?? null,
        passed_secrets_enc: run.passed_secrets_enc ?? null,
        next_check_at: sql<Date>`now() + make_interval(secs => ${checkInSeconds})`,
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', run.id)
      .where('status', '=', 'In Progress')
      .where('cancel_requested_at', 'is', null)
      .executeTakeFirst();
    if (updated.numUpdatedRows === 0n) return false;
    await addReferences(transaction, run.project_id, { kind: 'run', id: run.id }, run.file_ids ?? []);
    if (run.purpose === 'assistant') await keepBaseline(transaction, conversationId, run.id);
    return true;
  });
}

/** The cancelled runs. Queued ones have `ended`; the workflows of the others must still be notified (`toNotify`). */
export interface CancelledRuns {
  ended: { runId: string; outcome: RunChange }[];
  toNotify: string[];
}

/** Cancels runs in the transaction that holds the conversation's lock. Queued ones end at once. */
export async function cancelQueue(
  transaction: Db,
  { current, queued }: Pick<ConversationQueue, 'current' | 'queued'>,
  { doer, startGraceSeconds }: { doer: Doer; startGraceSeconds: number },
): Promise<CancelledRuns> {
  const cancelled: CancelledRuns = { ended: [], toNotify: [] };
  for (const id of [...current, ...queued]) {
    // `keyOf` instead of `key`: with `key`, `recordChange` would take its lock for changes of the run after the lock on
    // the run's row, and could deadlock with another change of the run.
    const change = { action: 'run.cancelled', type: 'run', doer, keyOf: () => ({ id }) } as const;
    await recordChange(transaction, change, (trx) => requestCancel(trx, id, startGraceSeconds));
    if (current.includes(id)) cancelled.toNotify.push(id);
    else cancelled.ended.push({ runId: id, outcome: await endCancelled(transaction, id) });
  }
  return cancelled;
}

/**
 * Ends a queued run whose cancellation was requested. Returns undefined if it is not queued: then the caller must
 * cancel its workflow in Temporal.
 */
export function endQueuedRun(db: Database, runId: string): Promise<RunChange | undefined> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string }>`
      SELECT conversation.id FROM runs JOIN conversations AS conversation ON conversation.id = runs.conversation_id
      WHERE runs.id = ${runId} AND runs.is_queued FOR NO KEY UPDATE OF conversation`.execute(transaction);
    const conversationId = rows[0]?.id;
    if (conversationId === undefined) return undefined;
    // The run may have started before the lock was acquired.
    const queued = await sql`
      SELECT FROM runs WHERE id = ${runId} AND is_queued AND status = 'In Progress'`.execute(transaction);
    return queued.rows.length === 0 ? undefined : endCancelled(transaction, runId);
  });
}

function endCancelled(transaction: Db, runId: string): Promise<RunChange> {
  const error = { code: 'cancelled', message: 'The run was cancelled.' };
  return endRun(transaction, runId, { status: 'cancelled', error });
}
