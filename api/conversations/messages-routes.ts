// The messages of a conversation (docs/use/conversations.md).
import { z } from 'zod';
import type { ConversationRecord } from '../../db/conversations/conversations-repository.js';
import { findMessageOfRun, pageOfMessages } from '../../db/conversations/messages-repository.js';
import { refusedInputSchema } from '../runs/refused-input.js';
import { detailSchema } from '../http/answer-schemas.js';
import { ApiError, orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import type { ConversationDeps } from './deps.js';
import { routesOf, type Caller, type Route } from '../http/route.js';
import { idempotencyHeaders, repeatHeaders, toKeyedRequest } from '../runs/idempotency.js';
import { postMessage } from './post-message.js';
import { messageBody, readMessage } from './read-message.js';
import { RefusedMessage } from './refused-message.js';
import { conversationParams, conversationPath, loadOwn, notChat } from './routes.js';
import { messageSchema, toMessage } from './views.js';

const defineRoute = routesOf<ConversationDeps>();

const list = defineRoute({
  method: 'GET',
  path: `${conversationPath}messages/`,
  summary: 'Lists the messages of the conversation and the answers to them, oldest first.',
  description: 'An answer is there once its run has ended. A page that is very large has some contents `truncated`.',
  keyScope: 'run',
  access: { to: 'conversation', role: 'viewer' },
  params: conversationParams,
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(messageSchema) },
  async handler({ deps, params, query }) {
    const { total, messages } = await pageOfMessages(deps.db, params.conversation_id, toWindow(query));
    const items = messages.map((message) => toMessage(message, deps.currencies));
    return answerPage(query, total, items);
  },
});

const post = defineRoute({
  method: 'POST',
  path: `${conversationPath}messages/`,
  summary: 'Sends a message, which starts a run of the workflow; the answer becomes a message when the run ends.',
  description:
    'The input of the run has `message`, `messages` (what was said before and the message itself, as ' +
    '`[{role, content}]`), `conversation_id`, `files` and the `inputs` of the conversation. A queued message is ' +
    'answered in its turn: its run polls as `in queue`, and rights and input are judged when it starts. With `replaces` ' +
    'it is asked anew from there. 400 `not_chat`: the workflow is no chat any more. 409: `busy`, or `queue_full`.',
  keyScope: 'run',
  readsDrawing: 'parsed',
  audit: { action: 'run.started', target: 'conversation', id: 'conversation_id', records: 'refusals' },
  access: { to: 'conversation', role: 'editor' },
  params: conversationParams,
  headers: idempotencyHeaders,
  body: messageBody,
  responses: {
    201: z.object({ message: messageSchema, run_id: z.uuid() }),
    409: detailSchema,
    422: refusedInputSchema,
  },
  async handler({ deps, log, caller, params, headers, body, audit }) {
    const conversation = await loadOwn(deps.db, params.conversation_id, caller);
    if (!conversation.isChat) throw notChat();
    refuseNarrowKeys(conversation, caller);
    const posted = readMessage(body);
    const { workflowId } = conversation;
    const keyed = toKeyedRequest(caller.userId, headers, { workflowId, options: { in: conversation.id, ...posted } });
    try {
      const { runId, isRepeat } = await postMessage(deps, log, { conversation, posted, doer: audit.doer, keyed });
      const message = orNotFound(await findMessageOfRun(deps.db, runId));
      const answer = { message: toMessage(message, deps.currencies), run_id: runId };
      return { status: 201, body: answer, headers: repeatHeaders(isRepeat) };
    } catch (error) {
      if (error instanceof RefusedMessage) return { status: 422, body: error.refusal };
      throw error;
    }
  },
});

/** Throws 403 if a key of another scope than `full` asks the assistant in the editor, which changes drawings. */
function refuseNarrowKeys({ purpose }: ConversationRecord, { scope = 'full' }: Caller): void {
  if (purpose === 'chat' || scope === 'full') return;
  throw new ApiError(403, 'key_scope', `An API key of the scope "${scope}" may not ask the assistant.`);
}

export const messageRoutes: Route<ConversationDeps>[] = [list, post];
