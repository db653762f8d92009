// Lists and changes conversations.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { addReferences } from '../files/references-repository.js';
import { isInReach, type Reach } from '../access/reach.js';
import type { ConversationPurpose } from '../core/tables.js';
import { totalCost } from '../runs/child-runs-repository.js';

/** The limit for a project. It stops a loop that creates conversations; no product needs so many. */
export const MOST_CONVERSATIONS = 100_000;

export interface NewConversation {
  id: string;
  workflowId: number;
  projectId: number;
  authorId: number;
  purpose: ConversationPurpose;
  title: string;
  endUser: string | null;
  inputsEnc: Buffer;
  /** The files that the inputs reference. */
  fileIds: readonly string[];
}

export type ConversationRecord = InferResult<ReturnType<typeof selectConversations>>[number];

/**
 * Returns false, and stores nothing, if the project has reached `MOST_CONVERSATIONS`, or if the conversation is one
 * with the assistant in the editor and its author already has one for this workflow.
 */
export function insertConversation(db: Db, conversation: NewConversation): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    if (!(await insertRow(transaction, conversation))) return false;
    const { id, projectId, fileIds } = conversation;
    await addReferences(transaction, projectId, { kind: 'message', id }, fileIds);
    return true;
  });
}

async function insertRow(transaction: Db, conversation: NewConversation): Promise<boolean> {
  const { id, workflowId, projectId, authorId, purpose, title, endUser, inputsEnc } = conversation;
  const { rows } = await sql`
    INSERT INTO conversations (id, workflow_id, project_id, author_id, purpose, title, end_user, inputs_enc)
    SELECT ${id}, ${workflowId}, ${projectId}, ${authorId}, ${purpose}, ${title}, ${endUser}, ${inputsEnc}
    WHERE (SELECT count(*) FROM (
      SELECT FROM conversations WHERE project_id = ${projectId} LIMIT ${MOST_CONVERSATIONS}::integer) AS made) < ${MOST_CONVERSATIONS}::integer
    ON CONFLICT (workflow_id, author_id) WHERE purpose = 'assistant' DO NOTHING
    RETURNING true`.execute(transaction);
  return rows.length > 0;
}

export interface ConversationQuery {
  workflowId: number;
  /** Undefined for all authors. */
  authorId: number | undefined;
  /** Undefined for all end users. */
  endUser: string | undefined;
  limit: number;
  offset: number;
}

/** Lists newest first, without conversations with the assistant in the editor. The caller must have checked access. */
export async function pageOfConversations(
  db: Db,
  { workflowId, authorId, endUser, limit, offset }: ConversationQuery,
): Promise<{ total: number; conversations: ConversationRecord[] }> {
  const found = db
    .selectFrom('conversations')
    .where('workflow_id', '=', workflowId)
    .where('purpose', '=', 'chat')
    .$if(authorId !== undefined, (some) => some.where('author_id', '=', authorId!))
    .$if(endUser !== undefined, (some) => some.where('end_user', '=', endUser!));
  const page = found.select('id').orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset);
  const [{ total }, conversations] = await Promise.all([
    found.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    selectConversations(db)
      .where('conversations.id', 'in', page)
      .orderBy('conversations.created_at', 'desc')
      .orderBy('conversations.id', 'desc')
      .execute(),
  ]);
  return { total, conversations };
}

/** Returns undefined if there is none, or its workflow or project was deleted. The caller must have checked access. */
export function findConversation(db: Db, id: string): Promise<ConversationRecord | undefined> {
  return selectConversations(db).where('conversations.id', '=', id).executeTakeFirst();
}

/** False if the conversation is one with a workflow that is no longer a chat. */
export const takesMessages = sql<boolean>`(workflows.is_chat OR conversations.purpose = 'assistant')`;

function selectConversations(db: Db) {
  return db
    .selectFrom('conversations')
    .innerJoin('workflows', 'workflows.id', 'conversations.workflow_id')
    .innerJoin('projects', 'projects.id', 'conversations.project_id')
    .where('workflows.archived_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .select(['conversations.id', 'conversations.workflow_id as workflowId', 'conversations.project_id as projectId'])
    .select(['conversations.author_id as authorId', 'conversations.title', 'conversations.end_user as endUser'])
    .select(['conversations.inputs_enc as inputsEnc', 'conversations.created_at as createdAt'])
    .select('conversations.purpose')
    .select(takesMessages.as('isChat'));
}

/**
 * Returns the user's role in the conversation's project if the user may read the conversation, else undefined. Authors
 * may read their conversations; owners and admins may read all except those with the assistant in the editor.
 */
export function findConversationRole(db: Db, id: string, reach: Reach) {
  return db
    .selectFrom('conversations')
    .innerJoin('workflows', 'workflows.id', 'conversations.workflow_id')
    .innerJoin('projects', 'projects.id', 'conversations.project_id')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .select(['projects.id as projectId', 'project_members.role', 'workflows.id as workflowId'])
    .where('conversations.id', '=', id)
    .where('project_members.user_id', '=', reach.userId)
    .where((row) =>
      row.or([
        row('conversations.author_id', '=', reach.userId),
        row.and([row('project_members.role', 'in', ['owner', 'admin']), row('conversations.purpose', '=', 'chat')]),
      ]),
    )
    .where('workflows.archived_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .where(isInReach('projects.id', reach))
    .executeTakeFirst();
}

/** Returns the user's conversation with the assistant in the editor of a workflow. */
export function findAssistantConversation(
  db: Db,
  workflowId: number,
  userId: number,
): Promise<ConversationRecord | undefined> {
  return (
    selectConversations(db)
      .where('conversations.workflow_id', '=', workflowId)
      .where('conversations.author_id', '=', userId)
      // A literal, so that PostgreSQL's generic plan can use the partial index.
      .where('conversations.purpose', '=', sql.lit('assistant'))
      .executeTakeFirst()
  );
}

export async function changeInputs(db: Db, id: string, inputsEnc: Buffer): Promise<void> {
  await db.updateTable('conversations').set({ inputs_enc: inputsEnc }).where('id', '=', id).execute();
}

/** Returns the cost of the runs of a conversation and of the tests that they requested, in USD. */
export async function costOfConversation(db: Db, id: string): Promise<string> {
  const { rows } = await sql<{ usd: string }>`
    WITH answers AS MATERIALIZED (SELECT run_id AS id FROM conversation_messages WHERE conversation_id = ${id}),
    paid AS MATERIALIZED (
      SELECT id FROM answers UNION SELECT run_id FROM test_runs WHERE asked_by IN (SELECT id FROM answers)
    )
    SELECT coalesce(sum(${totalCost('run')}), 0) AS usd FROM runs AS run JOIN paid USING (id)`.execute(db);
  return rows[0]!.usd;
}

export async function renameConversation(db: Db, id: string, title: string): Promise<void> {
  await db.updateTable('conversations').set({ title }).where('id', '=', id).execute();
}

/** Requires a transaction that holds the conversation's lock and has cancelled its runs. */
export async function removeConversation(transaction: Db, id: string): Promise<void> {
  await transaction.deleteFrom('conversation_messages').where('conversation_id', '=', id).execute();
  await transaction.deleteFrom('conversations').where('id', '=', id).execute();
}
