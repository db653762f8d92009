// Reads the message of an agent's model. The message is stored and sent back unchanged, including fields that only its
// provider knows; only its role and its tool calls are normalised.
import { MAX_TOOL_CALLS } from '../../../db/agents/tool-call-number.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { textOfContent } from '../../../graph/message-text.js';
import { readArguments, type ToolArguments } from '../../../graph/tool-arguments.js';
import { callsOf, messageOf, withoutCalls, type AssistantMessage } from '../llm/provider-message.js';

export interface AskedCall extends ToolArguments {
  id: string;
  name: string;
}

export interface ReadMessage {
  /** The message to store and to send back. */
  message: AssistantMessage;
  calls: AskedCall[];
}

/**
 * Returns undefined for a message with which the conversation cannot continue. The ids of the calls are usable because
 * `giveCallIds` has replaced all others.
 */
export function readMessage(answer: unknown): ReadMessage | undefined {
  const received = messageOf(answer);
  if (received === undefined || textOfContent(received['content']) === undefined) return undefined;
  const made = callsOf(received);
  if (made.length > MAX_TOOL_CALLS) return undefined;
  const calls: AskedCall[] = [];
  for (const { id, function: called } of made) {
    const { name, arguments: written } = isObject(called) ? called : ({} as JsonObject);
    if (typeof id !== 'string' || typeof name !== 'string') return undefined;
    calls.push({ id, name, ...readArguments(written) });
  }
  const message = withoutCalls(received);
  if (calls.length === 0) return { message, calls };
  const ordered = made.map((call, at) => {
    const { text, parsed } = calls[at]!;
    // Some providers refuse all later turns of a conversation that contains arguments that are not an object.
    const written = parsed === undefined ? '{}' : text;
    return { ...call, type: 'function', function: { ...(call['function'] as JsonObject), arguments: written } };
  });
  return { message: { ...message, tool_calls: ordered }, calls };
}
