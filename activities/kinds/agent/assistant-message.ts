// Reads the message of an agent's model. The message is stored and goes back to the model as it came, fields that only its
// provider knows included; only its tool calls are put in order.
import { MAX_TOOL_CALLS } from '../../../db/agents/tool-call-number.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { textOfContent } from '../../../graph/message-text.js';
import { readArguments, type ToolArguments } from '../../../graph/tool-arguments.js';
import { callsOf, messageOf, withoutCalls, type AssistantMessage } from '../llm/said-message.js';

export interface AskedCall extends ToolArguments {
  id: string;
  name: string;
}

export interface ReadMessage {
  /** The message that goes back. */
  message: AssistantMessage;
  calls: AskedCall[];
}

/** Undefined for a message with which the conversation cannot continue. The calls of the answer have usable ids. */
export function readMessage(answer: unknown): ReadMessage | undefined {
  const said = messageOf(answer);
  if (said === undefined || textOfContent(said['content']) === undefined) return undefined;
  const made = callsOf(said);
  if (made.length > MAX_TOOL_CALLS) return undefined;
  const calls: AskedCall[] = [];
  for (const { id, function: called } of made) {
    const { name, arguments: written } = isObject(called) ? called : ({} as JsonObject);
    if (typeof id !== 'string' || typeof name !== 'string') return undefined;
    calls.push({ id, name, ...readArguments(written) });
  }
  const message = withoutCalls(said);
  if (calls.length === 0) return { message, calls };
  const ordered = made.map((call, at) => {
    const { text, given } = calls[at]!;
    // Some providers refuse each later turn of a conversation whose arguments are no object.
    const written = given === undefined ? '{}' : text;
    return { ...call, type: 'function', function: { ...(call['function'] as JsonObject), arguments: written } };
  });
  return { message: { ...message, tool_calls: ordered }, calls };
}
