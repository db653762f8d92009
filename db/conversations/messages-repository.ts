import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';
import { totalCost } from '../runs/child-runs-repository.js';

export interface MessageRecord {
  id: string;
  role: 'user' | 'assistant';
  /** Masked; null for the answer of a run that has not succeeded. */
  content: string | null;
  isCut: boolean;
  /** File values. */
  files: Record<string, unknown>[];
  createdAt: Date;
  runId: string;
  runStatus: StoredRunStatus;
  isRunStarted: boolean;
  costUsd: string;
  errorCode: string | null;
  errorMessage: string | null;
  replaces: string | null;
}

/**
 * The limit on the sum of the contents of a page, counted from its first entry. The content that exceeds it, and all
 * after that one, are cut to `CUT_CHARACTERS`. The first entry of the page is never cut.
 */
const WHOLE_CHARACTERS = 1_048_576;
const CUT_CHARACTERS = 1_000;

/** A table expression with the messages and answers of a conversation, without their contents. */
const entries = (conversationId: string) => sql`(
  SELECT id, id AS of_message, created_at, ordinal, false AS is_answer FROM conversation_messages
  WHERE conversation_id = ${conversationId}
  UNION ALL
  SELECT answer_id, id, answered_at, ordinal, true FROM conversation_messages
  WHERE conversation_id = ${conversationId} AND answer_id IS NOT NULL)`;

/** Returns a page, oldest first. */
export async function pageOfMessages(
  db: Db,
  conversationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; messages: MessageRecord[] }> {
  const totals = await sql<{ total: number }>`
    SELECT count(*) + count(answer_id) AS total FROM conversation_messages WHERE conversation_id = ${conversationId}`.execute(
    db,
  );
  const { rows } = await sql<MessageRecord>`
    WITH page AS (
      SELECT * FROM ${entries(conversationId)} AS entry
      ORDER BY created_at, ordinal, is_answer LIMIT ${limit}::integer OFFSET ${offset}::bigint
    ), said AS (
      SELECT page.id, page.is_answer, page.created_at, page.ordinal, message.run_id, message.replaces,
        CASE WHEN page.is_answer THEN message.answer ELSE message.content END AS content,
        CASE WHEN page.is_answer THEN message.answer_files ELSE message.files END AS files,
        page.is_answer AND message.is_answer_cut AS is_cut
      FROM page JOIN conversation_messages AS message ON message.id = page.of_message
    ), counted AS (
      SELECT *, sum(char_length(content)) OVER (ORDER BY created_at, ordinal, is_answer) > ${WHOLE_CHARACTERS}
        AND row_number() OVER (ORDER BY created_at, ordinal, is_answer) > 1 AS is_beyond FROM said
    )
    SELECT counted.id, CASE WHEN is_answer THEN 'assistant' ELSE 'user' END AS role,
      CASE WHEN is_beyond THEN left(content, ${CUT_CHARACTERS}) ELSE content END AS content,
      is_cut OR coalesce(is_beyond AND char_length(content) > ${CUT_CHARACTERS}, false) AS "isCut",
      coalesce(files, '[]') AS files, counted.created_at AS "createdAt", run.id AS "runId", run.status AS "runStatus",
      run.run_started_at IS NOT NULL AS "isRunStarted", ${totalCost('run')} AS "costUsd", run.error_code AS "errorCode",
      run.error_message AS "errorMessage", CASE WHEN NOT is_answer THEN replaces END AS replaces
    FROM counted JOIN runs AS run ON run.id = run_id
    ORDER BY counted.created_at, ordinal, is_answer`.execute(db);
  return { total: totals.rows[0]?.total ?? 0, messages: await markDeleted(db, rows) };
}

/**
 * Returns the run of the newest message whose run is not queued and did not end while it was queued; undefined if there
 * is none.
 */
export async function findNewestRun(db: Db, conversationId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT run.id FROM conversation_messages AS message JOIN runs AS run ON run.id = message.run_id
    WHERE message.conversation_id = ${conversationId} AND NOT run.is_queued
    ORDER BY message.ordinal DESC LIMIT 1`.execute(db);
  return rows[0]?.id;
}

/** Returns the message that started the run; undefined if its conversation was deleted. */
export async function findMessageOfRun(db: Db, runId: string): Promise<MessageRecord | undefined> {
  const { rows } = await sql<MessageRecord>`
    SELECT message.id, 'user' AS role, content, false AS "isCut", files, message.created_at AS "createdAt",
      run.id AS "runId", run.status AS "runStatus", run.run_started_at IS NOT NULL AS "isRunStarted",
      ${totalCost('run')} AS "costUsd", run.error_code AS "errorCode", run.error_message AS "errorMessage", replaces
    FROM conversation_messages AS message JOIN runs AS run ON run.id = message.run_id
    WHERE message.run_id = ${runId}`.execute(db);
  return (await markDeleted(db, rows))[0];
}

/** Adds `deleted: true` to the values of files that were deleted meanwhile. */
async function markDeleted(db: Db, messages: readonly MessageRecord[]): Promise<MessageRecord[]> {
  const ids = messages.flatMap(({ files }) => files.map(({ file_id: id }) => id as string));
  if (ids.length === 0) return [...messages];
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM files WHERE id = ANY (${ids}::uuid[]) AND copy_id IS NOT NULL`.execute(db);
  const there = new Set(rows.map(({ id }) => id));
  return messages.map((message) => ({
    ...message,
    files: message.files.map((file) => (there.has(file['file_id'] as string) ? file : { ...file, deleted: true })),
  }));
}

export interface Exchange {
  id: string;
  content: string;
  /** Null if its run has not succeeded or not ended. */
  answer: string | null;
}

/** The position of a message in the tree of its conversation. */
export interface Branch {
  /** The previous message in the branch; null for the first message of the branch. */
  follows: string | null;
  replaces: string | null;
}

/**
 * Returns the position of the next message: after the last message, or that of the message that it replaces. `replaces`
 * may also be the id of an answer. Undefined if the conversation has no such message.
 */
export async function findBranch(
  db: Db,
  conversationId: string,
  replaces: string | undefined,
): Promise<Branch | undefined> {
  const { rows } = await sql<{ id: string; follows: string | null }>`
    SELECT id, follows FROM conversation_messages
    WHERE conversation_id = ${conversationId}
      AND (${replaces ?? null}::uuid IS NULL OR ${replaces ?? null}::uuid IN (id, answer_id))
    ORDER BY ordinal DESC LIMIT 1`.execute(db);
  const [found] = rows;
  if (replaces === undefined) return { follows: found?.id ?? null, replaces: null };
  return found && { follows: found.follows, replaces: found.id };
}

/**
 * Returns the messages of a branch up to `last`, newest first: at most `most` messages, and no more after
 * `maxBytes` are exceeded.
 */
export async function readBranch(
  db: Db,
  last: string | null,
  { most, maxBytes }: { most: number; maxBytes: number },
): Promise<Exchange[]> {
  if (last === null) return [];
  const { rows } = await sql<Exchange>`
    WITH RECURSIVE branch AS (
      SELECT id, follows, 1 AS depth FROM conversation_messages WHERE id = ${last}
      UNION ALL
      SELECT message.id, message.follows, depth + 1 FROM branch JOIN conversation_messages AS message ON message.id = branch.follows
      WHERE depth < ${most}::integer
    ), counted AS (
      SELECT message.id, depth, content, answer,
        sum(octet_length(content) + coalesce(octet_length(answer), 0)) OVER (ORDER BY depth)
          - octet_length(content) - coalesce(octet_length(answer), 0) AS bytes_behind
      FROM branch JOIN conversation_messages AS message ON message.id = branch.id
    )
    SELECT id, content, answer FROM counted WHERE bytes_behind <= ${maxBytes}::integer ORDER BY depth`.execute(db);
  return rows;
}
