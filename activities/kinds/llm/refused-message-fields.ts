// An agent's next model call, and the second call after an answer without the required form, send the model's own
// messages back with all their fields. Some providers refuse fields that they have added to these messages themselves,
// so the call is repeated without such a field.
import type OpenAI from 'openai';
import { isObject, type JsonObject } from '../../../graph/json.js';
import type { RefusedFields } from './refused-fields.js';

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** A message or tool call is invalid without these fields. */
const NEEDED = new Set(['role', 'content', 'tool_calls', 'id', 'type', 'function', 'name', 'arguments']);

/** No provider is known to add more fields that it refuses. */
const MAX_REPEATS = 3;

/**
 * Calls `ask` without the fields that the model has refused. If a refusal names another field of an assistant message,
 * remembers that field and repeats the call without it.
 */
export async function askWithoutRefused<Answer>(
  refused: RefusedFields,
  body: Body,
  ask: (body: Body) => Promise<Answer>,
): Promise<Answer> {
  const { model } = body;
  const omitted = fieldsOf(body).filter((field) => refused.has(model, field));
  let sent = omitted.reduce(withoutField, body);
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await ask(sent);
    } catch (error) {
      // A refusal that names an omitted field means that the provider requires it, so later calls send it again.
      const missed = refused.learn(model, error, omitted);
      if (missed !== undefined) refused.forget(model, missed);
      const isLast = missed !== undefined || repeats === MAX_REPEATS;
      const field = isLast ? undefined : refused.learn(model, error, fieldsOf(sent));
      if (field === undefined) throw error;
      omitted.push(field);
      sent = withoutField(sent, field);
    }
  }
}

/** Returns the fields that the assistant messages can do without. */
function fieldsOf({ messages }: Body): string[] {
  const holders = messages.flatMap((message) => (isOfAssistant(message) ? [message, ...callsIn(message)] : []));
  return [...new Set(holders.flatMap((holder) => Object.keys(holder)))].filter((field) => !NEEDED.has(field));
}

function callsIn({ tool_calls: calls }: JsonObject): JsonObject[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).flatMap((call) => [call, ...[call['function']].filter(isObject)]);
}

function withoutField(body: Body, field: string): Body {
  const messages = body.messages.map((message) => {
    return isOfAssistant(message) ? omitFromMessage(message, field) : message;
  });
  return { ...body, messages: messages as Body['messages'] };
}

function omitFromMessage(message: JsonObject, field: string): JsonObject {
  const { tool_calls: calls, ...rest } = omit(message, field);
  if (!Array.isArray(calls)) return omit(message, field);
  const remaining = calls.filter(isObject).map((call) => {
    const { function: called, ...others } = omit(call, field);
    return { ...others, ...(isObject(called) && { function: omit(called, field) }) };
  });
  return { ...rest, tool_calls: remaining };
}

function omit(holder: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(holder).filter(([name]) => name !== field));
}

function isOfAssistant(message: object): message is JsonObject {
  return isObject(message) && message['role'] === 'assistant';
}
