// Conversations with workflows (docs/use/conversations.md).
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { mayAct } from '../../acceptance/roles.js';
import { START_GRACE_SECONDS } from '../../acceptance/store-run.js';
import {
  findConversation,
  insertConversation,
  MOST_CONVERSATIONS,
  pageOfConversations,
  removeConversation,
  renameConversation,
  type ConversationRecord,
} from '../../db/conversations/conversations-repository.js';
import { cancelQueue, lockQueue } from '../../db/conversations/queue-repository.js';
import type { Db } from '../../db/core/client.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { findInputSecrets } from '../../db/workflows/secret-input-fields.js';
import { isChatWorkflow } from '../../db/workflows/chats-repository.js';
import { fileIdsIn } from '../../graph/file-values.js';
import type { ConversationDeps } from './deps.js';
import { nothing } from '../http/answer-schemas.js';
import { ApiError, notFound, orNotFound, permissionDenied, quotaExceeded } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import { routesOf, type Caller, type Route } from '../http/route.js';
import { readInputs, sealInputs } from './conversation-inputs.js';
import { reportCancelled } from './post-message.js';
import { conversationSchema, toConversations } from './views.js';

const defineRoute = routesOf<ConversationDeps>();

const conversationsPath = '/api/v1/workflows/:id/conversations/';
export const conversationPath = '/api/v1/conversations/:conversation_id/';
export const conversationParams = z.object({ conversation_id: uuid });
const MAX_NAME_CHARACTERS = 255;
const title = z.string().trim().max(MAX_NAME_CHARACTERS);

const list = defineRoute({
  method: 'GET',
  path: conversationsPath,
  summary: "Lists the caller's conversations with the workflow, for owner and admins those of everybody, newest first.",
  description: '400 `not_chat`: the workflow is no chat (`is_chat`).',
  keyScope: 'run',
  access: { to: 'workflow', role: 'viewer' },
  query: z.object({ ...pageQuery(1), user: z.string().max(MAX_NAME_CHARACTERS).optional() }),
  responses: { 200: envelopeOf(conversationSchema) },
  async handler({ deps, caller, access, params, query }) {
    await requireChat(deps.db, params.id);
    const authorId = mayAct(access.role, 'admin') ? undefined : caller.userId;
    const asked = { workflowId: params.id, authorId, endUser: query.user, ...toWindow(query) };
    const { total, conversations } = await pageOfConversations(deps.db, asked);
    return answerPage(query, total, await toConversations(deps, conversations));
  },
});

const create = defineRoute({
  method: 'POST',
  path: conversationsPath,
  summary: 'Begins a conversation with a workflow that is a chat.',
  description:
    "`inputs` are the trigger's other fields for each message; `user` is the caller's name for an end user. 400 " +
    '`not_chat`: the workflow is no chat. 400 `too_many_conversations`: the project has as many as it may.',
  keyScope: 'run',
  audit: { action: 'conversation.created', target: 'conversation', makes: 'id' },
  access: { to: 'workflow', role: 'editor' },
  bodyFormat: 'exact',
  body: z.object({
    title: title.default(''),
    user: z.string().min(1).max(MAX_NAME_CHARACTERS).nullish(),
    inputs: z.unknown().optional().describe('An object'),
  }),
  responses: { 201: conversationSchema },
  async handler({ deps, caller, access, params, body }) {
    await requireChat(deps.db, params.id);
    const id = randomUUID();
    const inputs = readInputs(body.inputs);
    const drawing = orNotFound((await findInputSecrets(deps.db, [params.id])).get(params.id));
    const conversation = {
      id,
      workflowId: params.id,
      projectId: access.projectId,
      authorId: caller.userId,
      purpose: 'chat' as const,
      title: body.title,
      endUser: body.user ?? null,
      inputsEnc: sealInputs(deps.secretBox, id, inputs, drawing),
      fileIds: fileIdsIn(inputs),
    };
    const isMade = await insertConversation(deps.db, conversation).catch((error: unknown) => {
      throw isQuotaExceeded(error) ? quotaExceeded() : error;
    });
    if (!isMade) {
      const limit = `A project may have ${MOST_CONVERSATIONS} conversations.`;
      throw new ApiError(400, 'too_many_conversations', limit);
    }
    return { status: 201, body: await answerOne(deps, id) };
  },
});

const read = defineRoute({
  method: 'GET',
  path: conversationPath,
  summary: 'Returns one conversation.',
  keyScope: 'run',
  access: { to: 'conversation', role: 'viewer' },
  params: conversationParams,
  responses: { 200: conversationSchema },
  handler: async ({ deps, params }) => ({ status: 200, body: await answerOne(deps, params.conversation_id) }),
});

const rename = defineRoute({
  method: 'PATCH',
  path: conversationPath,
  summary: 'Changes the title of a conversation of the caller.',
  keyScope: 'run',
  audit: { action: 'conversation.changed', target: 'conversation', id: 'conversation_id' },
  access: { to: 'conversation', role: 'editor' },
  params: conversationParams,
  body: z.object({ title: title.min(1).optional() }),
  responses: { 200: conversationSchema },
  async handler({ deps, caller, params, body }) {
    const { conversation_id: id } = params;
    await loadOwn(deps.db, id, caller);
    if (body.title !== undefined) await renameConversation(deps.db, id, body.title);
    return { status: 200, body: await answerOne(deps, id) };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: conversationPath,
  summary: 'Deletes a conversation of the caller with its messages, and cancels its runs in flight.',
  keyScope: 'run',
  audit: { action: 'conversation.deleted', target: 'conversation', id: 'conversation_id', commits: 'handler' },
  access: { to: 'conversation', role: 'editor' },
  params: conversationParams,
  responses: { 204: nothing },
  async handler({ deps, log, caller, params, audit }) {
    const { conversation_id: id } = params;
    await loadOwn(deps.db, id, caller);
    const cancelled = await audit.change(async (trx) => {
      const turns = await lockQueue(trx, id);
      if (turns === undefined) throw notFound();
      const all = { current: [...turns.current, ...turns.waiting], queued: turns.queued };
      const done = await cancelQueue(trx, all, { doer: audit.doer, startGraceSeconds: START_GRACE_SECONDS });
      await removeConversation(trx, id);
      return done;
    });
    await reportCancelled(deps, log, cancelled);
    return { status: 204 };
  },
});

export const conversationRoutes: Route<ConversationDeps>[] = [list, create, read, rename, remove];

async function answerOne(deps: ConversationDeps, id: string): Promise<z.infer<typeof conversationSchema>> {
  const conversation = orNotFound(await findConversation(deps.db, id));
  return (await toConversations(deps, [conversation]))[0]!;
}

async function requireChat(db: Db, workflowId: number): Promise<void> {
  if (!(await isChatWorkflow(db, workflowId))) throw notChat();
}

export function notChat(): ApiError {
  return new ApiError(400, 'not_chat', 'The workflow is no chat: set `is_chat`.');
}

/** Throws 403 unless the caller is the author: owner and admins may only read the conversations of others. */
export async function loadOwn(db: Db, id: string, { userId }: Caller): Promise<ConversationRecord> {
  const conversation = orNotFound(await findConversation(db, id));
  if (conversation.authorId !== userId) throw permissionDenied('Only its author may change a conversation.');
  return conversation;
}
