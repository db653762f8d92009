// The message of an answer, which a provider may have written in any way.
import { randomInt } from 'node:crypto';
import type { ToldToolCall } from '../../../db/runs/run-deltas-repository.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { textOfContent } from '../../../graph/message-text.js';
import { readArguments } from '../../../graph/tool-arguments.js';

/** The message of the first choice. */
export function messageOf(answer: unknown): JsonObject | undefined {
  const choices: unknown = isObject(answer) ? answer['choices'] : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message: unknown = isObject(first) ? first['message'] : undefined;
  return isObject(message) ? message : undefined;
}

/** The tool calls of a message: of the kind that can be answered, or without a kind. */
export function callsOf(message: JsonObject | undefined): JsonObject[] {
  const calls: unknown = message?.['tool_calls'];
  return Array.isArray(calls) ? calls.filter(isObject).filter(({ type }) => (type || 'function') === 'function') : [];
}

/** Gives each tool call an id by which it can be answered, in place of an id that is missing, no text, or there twice. */
export function giveCallIds<Answer>(answer: Answer): Answer {
  const calls = callsOf(messageOf(answer));
  const taken = new Set<unknown>();
  for (const call of calls) {
    if (!isUsableId(call['id']) || taken.has(call['id'])) call['id'] = randomId();
    taken.add(call['id']);
  }
  return answer;
}

/** An id with a null character or half a character cannot be stored. */
function isUsableId(id: unknown): boolean {
  return typeof id === 'string' && id.trim() !== '' && !/[\0\p{Surrogate}]/u.test(id);
}

/** Mistral takes no ids of another form. */
const [ID_CHARACTERS, ID_LENGTH] = ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 9];

function randomId(): string {
  return Array.from({ length: ID_LENGTH }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]).join('');
}

/** The tool calls that readers are told: those with a name. */
export function toldCallsOf(answer: unknown): ToldToolCall[] {
  return callsOf(messageOf(answer)).flatMap(({ id, function: called }) => {
    const { name, arguments: written } = isObject(called) ? called : ({} as JsonObject);
    return typeof name === 'string' ? [{ id: String(id), name, arguments: readArguments(written).text }] : [];
  });
}

/** A message of the model as it goes back to its provider. */
export interface AssistantMessage extends JsonObject {
  role: 'assistant';
}

/** Returns the message as it came, without its tool calls. */
export function withoutCalls({ tool_calls: _calls, ...message }: JsonObject): AssistantMessage {
  return { ...message, role: 'assistant' };
}

/** Some providers refuse a message that says nothing. */
export function isSilent({ content, tool_calls: calls }: JsonObject): boolean {
  if (calls !== undefined) return false;
  return Array.isArray(content) ? content.length === 0 : textOfContent(content) === null || content === '';
}

/** Returns the words with which the model refuses to answer; null where it does not. */
export function refusalOf({ refusal }: JsonObject): string | null {
  return typeof refusal === 'string' && refusal !== '' ? refusal : null;
}
