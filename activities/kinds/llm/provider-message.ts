// Reads the message of an answer, whose form depends on the provider.
import { randomInt } from 'node:crypto';
import type { ReportedToolCall } from '../../../db/runs/run-deltas-repository.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { textOfContent } from '../../../graph/message-text.js';
import { readArguments } from '../../../graph/tool-arguments.js';

export function messageOf(answer: unknown): JsonObject | undefined {
  const choices: unknown = isObject(answer) ? answer['choices'] : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message: unknown = isObject(first) ? first['message'] : undefined;
  return isObject(message) ? message : undefined;
}

/** Returns the tool calls of a message that can be answered: function calls, and calls without a type. */
export function callsOf(message: JsonObject | undefined): JsonObject[] {
  const calls: unknown = message?.['tool_calls'];
  return Array.isArray(calls) ? calls.filter(isObject).filter(({ type }) => (type || 'function') === 'function') : [];
}

/** Replaces each tool call id that is missing, unusable or a duplicate, so that every call can be answered. */
export function giveCallIds<Answer>(answer: Answer): Answer {
  const calls = callsOf(messageOf(answer));
  const used = new Set<unknown>();
  for (const call of calls) {
    if (!isUsableId(call['id']) || used.has(call['id'])) call['id'] = randomId();
    used.add(call['id']);
  }
  return answer;
}

/** PostgreSQL cannot store an id with a null character or half a surrogate pair. */
function isUsableId(id: unknown): boolean {
  return typeof id === 'string' && id.trim() !== '' && !/[\0\p{Surrogate}]/u.test(id);
}

/** Mistral accepts only ids of this form. */
const [ID_CHARACTERS, ID_LENGTH] = ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 9];

function randomId(): string {
  return Array.from({ length: ID_LENGTH }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]).join('');
}

/** Returns the tool calls that are reported to readers: the calls with a name. */
export function reportedCallsOf(answer: unknown): ReportedToolCall[] {
  return callsOf(messageOf(answer)).flatMap(({ id, function: called }) => {
    const { name, arguments: written } = isObject(called) ? called : ({} as JsonObject);
    return typeof name === 'string' ? [{ id: String(id), name, arguments: readArguments(written).text }] : [];
  });
}

/** A message of the model as it is sent back to its provider. */
export interface AssistantMessage extends JsonObject {
  role: 'assistant';
}

/** Returns the message without its tool calls and with the role `assistant`, otherwise unchanged. */
export function withoutCalls({ tool_calls: _calls, ...message }: JsonObject): AssistantMessage {
  return { ...message, role: 'assistant' };
}

/** Returns true for a message without content and calls, because some providers refuse it. */
export function isSilent({ content, tool_calls: calls }: JsonObject): boolean {
  if (calls !== undefined) return false;
  return Array.isArray(content) ? content.length === 0 : textOfContent(content) === null || content === '';
}

/** Returns the words with which the model refuses to answer, or null if it does not refuse. */
export function refusalOf({ refusal }: JsonObject): string | null {
  return typeof refusal === 'string' && refusal !== '' ? refusal : null;
}
