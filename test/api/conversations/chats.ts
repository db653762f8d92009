// Uses conversations as clients do.
import assert from 'node:assert/strict';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { condition, drawing, link, node, trigger } from '../../../harness/drawing/drawing.js';

export interface Conversation {
  id: string;
  title: string;
  user: string | null;
  inputs: unknown;
  created_at: string;
}

export interface Message {
  id: string;
  role: 'user' | 'assistant';
  content: string | null;
  truncated?: true;
  files: Record<string, unknown>[];
  created_at: string;
  run_id: string;
  cost: Record<string, string> | null;
  status: string;
  error: { code: string; message: string } | null;
  replaces: string | null;
}

export interface Posted {
  message: Message;
  run_id: string;
}

/**
 * Draws a chat that answers with the `messages` of its input. If the message contains "hold", the run first waits for a
 * callback. If it contains "ask", the run first waits for a person.
 */
export function createChatDrawing(inputFields: Record<string, unknown>[] = []) {
  const begin = trigger(inputFields);
  const isHeld = condition('{{ input.message }}', 'contains', 'hold');
  const pause = node('wait', { mode: 'callback' });
  const isAsked = condition('{{ input.message }}', 'contains', 'ask');
  const person = node('human', { message: 'Well?' });
  const end = node('output', { value: '{{ input.messages }}' });
  link(begin, isHeld);
  link(isHeld, pause, 'true');
  link(isHeld, isAsked, 'false');
  link(isAsked, person, 'true');
  link(isAsked, end, 'false');
  link(pause, end);
  link(person, end);
  return { data: drawing([begin, isHeld, pause, isAsked, person, end]), pause: pause.id, person: person.id };
}

export async function createChat(api: ApiClient, projectId: number, data: object): Promise<number> {
  const id = await api.createWorkflow(projectId, data);
  const { status } = await api.patch(`/workflows/${id}/`, { body: { is_chat: true } });
  assert.equal(status, 200);
  return id;
}

export async function converse(api: ApiClient, workflowId: number, body: object = {}): Promise<Conversation> {
  const { status, body: made } = await api.post<Conversation>(`/workflows/${workflowId}/conversations/`, { body });
  assert.equal(status, 201, JSON.stringify(made));
  return made;
}

export function post(
  api: ApiClient,
  conversationId: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<ApiAnswer<Posted>> {
  return api.post<Posted>(`/conversations/${conversationId}/messages/`, { body, headers });
}

/** Posts a message that must be accepted. Returns its run. */
export async function say(api: ApiClient, conversationId: string, content: string, more: object = {}): Promise<Posted> {
  const { status, body } = await post(api, conversationId, { content, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

export async function messagesOf(api: ApiClient, conversationId: string): Promise<Message[]> {
  const path = `/conversations/${conversationId}/messages/?size=100`;
  const { status, body } = await api.get<{ items: Message[]; total: number }>(path);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.total, body.items.length);
  return body.items;
}

/** Waits for the answer to a message. */
export function answerTo(api: ApiClient, conversationId: string, { run_id: runId }: Posted): Promise<Message> {
  return eventually(
    async () =>
      (await messagesOf(api, conversationId)).find(({ role, run_id: of }) => role === 'assistant' && of === runId),
    { timeoutMs: 30_000 },
  );
}

/** Returns the `messages` that the run of an answer received: the user's texts, and `(answer)` for each answer. */
export function heard({ content }: Message): string[] {
  assert.notEqual(content, null);
  return (JSON.parse(content!) as { role: string; content: string }[]).map(({ role, content: said }) =>
    role === 'user' ? said : `(${said.length > 0 ? 'answer' : ''})`,
  );
}
