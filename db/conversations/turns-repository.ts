// Turns: which run of a conversation goes on, and which ones are queued behind it. The row of the conversation is the
// lock. ADR 29. Locks are taken in this order: conversation, runs, messages.
import { sql } from 'kysely';
import type { Doer } from '../audit/audit-entry.js';
import { recordChange } from '../audit/record-change.js';
import type { Database, Db } from '../core/client.js';
import type { Role } from '../core/tables.js';
import { addReferences } from '../files/references-repository.js';
import { endRun, type RunChange } from '../runs/run-life.js';
import { insertAcceptedRun, requestCancel, type RunFacts } from '../runs/runs-repository.js';
import type { Branch } from './messages-repository.js';
import { cutText } from '../../graph/cut-text.js';

/** So many messages of a conversation may be queued. */
export const MOST_QUEUED = 20;
/** So many runs of a conversation may wait for people. Each turn looks at all of them. */
export const MOST_WAITING = 100;
export const MOST_MESSAGES_IN_ALL = 10_000;

const MAX_TITLE_CHARACTERS = 80;

/** The open runs of a conversation, by their ids, in the order of their messages. */
export interface OpenTurns {
  /** Those that have begun and do not wait for a person. */
  current: string[];
  /** Those that have begun and wait for a person: they hold nobody. */
  waiting: string[];
  queued: string[];
  /** How many messages were sent in all. */
  messages: number;
}

/**
 * Within a transaction: locks the conversation, and those of its runs that have begun, until the commit. A run that is
 * just ending is waited for; one that ends later finds what this transaction has stored. Undefined where the
 * conversation was deleted.
 */
export async function lockTurns(transaction: Db, conversationId: string): Promise<OpenTurns | undefined> {
  const locked = await sql`SELECT FROM conversations WHERE id = ${conversationId} FOR NO KEY UPDATE`.execute(
    transaction,
  );
  if (locked.rows.length === 0) return undefined;
  const last = await sql<{ ordinal: number }>`
    SELECT coalesce(max(ordinal), 0) AS ordinal FROM conversation_messages WHERE conversation_id = ${conversationId}`.execute(
    transaction,
  );
  // Queued runs are not locked: whoever calls them up passes over those that are.
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
  /** UUID. */
  id: string;
  conversationId: string;
  projectId: number;
  branch: Branch;
  /** Masked. */
  content: string;
  contentEnc: Buffer | null;
  /** File values. */
  files: readonly { file_id: string }[];
}

/** Within the transaction that holds the turns: stores the message and its run together. */
export async function insertMessage(
  transaction: Db,
  message: NewMessage,
  { run, isQueued, checkInSeconds }: { run: RunFacts; isQueued: boolean; checkInSeconds: number },
): Promise<void> {
  const { id, conversationId, projectId, branch, content, contentEnc, files } = message;
  await insertAcceptedRun(
    transaction,
    { ...run, conversation_id: conversationId, is_queued: isQueued },
    checkInSeconds,
  );
  await sql`
    INSERT INTO conversation_messages
      (id, conversation_id, ordinal, run_id, follows, replaces, content, content_enc, files)
    SELECT ${id}, ${conversationId}, coalesce(max(ordinal), 0) + 1, ${run.id}::uuid, ${branch.follows}::uuid, ${branch.replaces}::uuid,
      ${content}, ${contentEnc}::bytea, ${JSON.stringify(files)}::json
    FROM conversation_messages WHERE conversation_id = ${conversationId}`.execute(transaction);
  const fileIds = files.map(({ file_id: fileId }) => fileId);
  await addReferences(transaction, projectId, { kind: 'message', id }, fileIds);
  const title = cutText(content.trim().split('\n', 1)[0]!, MAX_TITLE_CHARACTERS);
  await transaction
    .updateTable('conversations')
    .set({ title })
    .where('id', '=', conversationId)
    .where('title', '=', '')
    .execute();
}

/**
 * Within a transaction: lets the reconciler look at the first queued run, as the end of a run does (migration 0020).
 */
export async function callNextTurn(transaction: Db, conversationId: string): Promise<void> {
  await sql`SELECT call_next_turn(${conversationId}::uuid)`.execute(transaction);
}

/** A message whose run is queued. */
export interface QueuedMessage {
  id: string;
  conversationId: string;
  workflowId: number;
  projectId: number;
  authorId: number;
  /** Null when the author is no member of the project any more, or not active. */
  authorRole: Role | null;
  /** False where its workflow is no chat any more. */
  isChat: boolean;
  inputsEnc: Buffer;
  content: string;
  contentEnc: Buffer | null;
  files: Record<string, unknown>[];
  follows: string | null;
}

/** Undefined where the run is none of a conversation, or not queued. */
export async function findQueuedMessage(db: Db, runId: string): Promise<QueuedMessage | undefined> {
  const { rows } = await sql<QueuedMessage>`/* find_queued_message */
    SELECT message.id, message.conversation_id AS "conversationId", run.workflow_id AS "workflowId",
      run.project_id AS "projectId", run.user_id AS "authorId", member.role AS "authorRole", workflow.is_chat AS "isChat",
      conversation.inputs_enc AS "inputsEnc", message.content, message.content_enc AS "contentEnc",
      message.files, message.follows
    FROM runs AS run JOIN conversation_messages AS message ON message.run_id = run.id
      JOIN conversations AS conversation ON conversation.id = message.conversation_id
      JOIN workflows AS workflow ON workflow.id = run.workflow_id
      JOIN users AS author ON author.id = run.user_id
      LEFT JOIN project_members AS member
        ON member.project_id = run.project_id AND member.user_id = author.id AND author.is_active
    WHERE run.id = ${runId} AND run.is_queued AND run.status = 'In Progress'`.execute(db);
  return rows[0];
}

/**
 * Returns whether nothing is before the queued run. Whoever ends the run before it calls it up unless its row is
 * locked, as while the reconciler claims it. This waits for such an end, so that the call is not missed.
 */
export function isNext(db: Database, conversationId: string, runId: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => isFirst(await lockTurns(transaction, conversationId), runId));
}

function isFirst(turns: OpenTurns | undefined, runId: string): boolean {
  return turns !== undefined && turns.current.length === 0 && turns.queued[0] === runId;
}

/**
 * Gives a queued run its input and its graph, if its turn has come. Returns whether this call has done that. A process
 * that dies has done all of it or nothing.
 */
export function beginTurn(
  db: Database,
  conversationId: string,
  { run, checkInSeconds }: { run: RunFacts; checkInSeconds: number },
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    if (!isFirst(await lockTurns(transaction, conversationId), run.id)) return false;
    const begun = await transaction
      .updateTable('runs')
      .set({
        is_queued: false,
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
    if (begun.numUpdatedRows === 0n) return false;
    await addReferences(transaction, run.project_id, { kind: 'run', id: run.id }, run.file_ids ?? []);
    return true;
  });
}

/** The runs that were cancelled: those that have ended by that, and those that are still to be told. */
export interface CancelledTurns {
  ended: { runId: string; outcome: RunChange }[];
  told: string[];
}

/** Within the transaction that holds the turns: cancels runs, of which those that are queued end at once. */
export async function cancelTurns(
  transaction: Db,
  { current, queued }: Pick<OpenTurns, 'current' | 'queued'>,
  { doer, startGraceSeconds }: { doer: Doer; startGraceSeconds: number },
): Promise<CancelledTurns> {
  const cancelled: CancelledTurns = { ended: [], told: [] };
  for (const id of [...current, ...queued]) {
    await recordChange(transaction, { action: 'run.cancelled', type: 'run', doer, key: { id } }, (trx) =>
      requestCancel(trx, id, startGraceSeconds),
    );
    if (current.includes(id)) cancelled.told.push(id);
    else cancelled.ended.push({ runId: id, outcome: await endCancelled(transaction, id) });
  }
  return cancelled;
}

/**
 * Ends a queued run whose cancellation was asked for. Undefined where it is not queued: its workflow in Temporal is to
 * be told then.
 */
export function endQueuedRun(db: Database, runId: string): Promise<RunChange | undefined> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string }>`
      SELECT conversation.id FROM runs JOIN conversations AS conversation ON conversation.id = runs.conversation_id
      WHERE runs.id = ${runId} AND runs.is_queued FOR NO KEY UPDATE OF conversation`.execute(transaction);
    const conversationId = rows[0]?.id;
    if (conversationId === undefined) return undefined;
    // The run may have begun before the lock was there.
    const queued = await sql`
      SELECT FROM runs WHERE id = ${runId} AND is_queued AND status = 'In Progress'`.execute(transaction);
    return queued.rows.length === 0 ? undefined : endCancelled(transaction, runId);
  });
}

function endCancelled(transaction: Db, runId: string): Promise<RunChange> {
  const error = { code: 'cancelled', message: 'The run was cancelled.' };
  return endRun(transaction, runId, { status: 'cancelled', error });
}
