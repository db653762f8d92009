// An assistant message is what the model of an agent says. It is stored and sent back to the model in this form.
import type OpenAI from 'openai';
import { MAX_TOOL_CALLS } from '../../../db/agents/tool-call-number.js';

export interface AssistantMessage {
  role: 'assistant';
  content: string | null;
  /** The model says this instead of an answer that it refuses to give. */
  refusal?: string;
  tool_calls?: ModelToolCall[];
}

export interface ModelToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/**
 * Keeps only what later turns send back to the model. Undefined for a message with which the conversation cannot
 * continue.
 */
export function readMessage(answer: OpenAI.Chat.ChatCompletion): AssistantMessage | undefined {
  const message = answer?.choices?.[0]?.message;
  if (message === undefined || message === null) return undefined;
  if (!(message.tool_calls ?? []).every(isUsable)) return undefined;
  const calls = (message.tool_calls ?? []).flatMap((call) =>
    call.type === 'function' ? [{ id: call.id, type: call.type, function: call.function }] : [],
  );
  if (calls.length > MAX_TOOL_CALLS) return undefined;
  const { refusal } = message;
  return {
    role: 'assistant',
    content: message.content ?? null,
    ...(typeof refusal === 'string' && refusal !== '' && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** A tool call without an id cannot be answered, and an id with a NUL cannot be stored. */
function isUsable(call: OpenAI.Chat.ChatCompletionMessageToolCall): boolean {
  if (typeof call?.id !== 'string' || call.id === '' || call.id.includes('\0')) return false;
  if (call.type !== 'function') return true;
  return typeof call.function?.name === 'string' && typeof call.function.arguments === 'string';
}
