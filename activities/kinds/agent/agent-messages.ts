// Builds the conversation of an agent from its stored turns for each model call. The conversation is stored only in
// PostgreSQL and sent only to the provider.
import type OpenAI from 'openai';
import type { AnsweredToolCall, StoredTurn } from '../../../db/agents/agent-repository.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { parseJson } from '../../../graph/json-text.js';
import type { NodeKey } from '../../../graph/plan.js';
import { isSilent, type AssistantMessage } from '../llm/provider-message.js';
import { withMarkedNumbers } from '../marked-numbers.js';

type Message = OpenAI.Chat.ChatCompletionMessageParam;

interface UnsealDeps {
  secretBox: SecretBox;
  /** The key of the agent's node, which is associated data of each sealed message. */
  agent: NodeKey;
}

/** `nodeMessages` are the messages that the node defines. */
export function toMessages(
  nodeMessages: Message[],
  turns: StoredTurn[],
  calls: AnsweredToolCall[],
  { secretBox, agent }: UnsealDeps,
): Message[] {
  const turnMessages = turns.flatMap((turn): Message[] => {
    const answers = calls.filter((call) => call.turn === turn.turn).map((call) => toAnswer(call, { secretBox, agent }));
    const message = openMessage(turn, { secretBox, agent });
    return isSilent(message) ? answers : [withMarkedNumbers(message), ...answers];
  });
  return [...nodeMessages, ...turnMessages];
}

export function openMessage({ turn, messageEnc }: StoredTurn, { secretBox, agent }: UnsealDeps): AssistantMessage {
  const { runId, path, nodeId } = agent;
  return parseJson(secretBox.open(messageEnc, 'agent-message', runId, path, nodeId, turn)) as AssistantMessage;
}

function toAnswer(call: AnsweredToolCall, deps: UnsealDeps): Message {
  return { role: 'tool', tool_call_id: call.toolCallId, content: openAnswer(call, deps) };
}

export function openAnswer({ turn, ordinal, answerEnc }: AnsweredToolCall, { secretBox, agent }: UnsealDeps): string {
  const { runId, path, nodeId } = agent;
  return answerEnc === null ? '' : secretBox.open(answerEnc, 'agent-answer', runId, path, nodeId, turn, ordinal);
}
