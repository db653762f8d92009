// Builds the conversation of an agent from its stored turns for each model call. It leaves Postgres only for the
// provider.
import type OpenAI from 'openai';
import type { StoredToolCall, StoredTurn } from '../../../db/agents/agent-repository.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import type { AgentNodeData } from '../../../graph/nodes/agent.js';
import { renderText, type Scope } from '../../../graph/template.js';
import type { AssistantMessage } from './assistant-message.js';

type Message = OpenAI.Chat.ChatCompletionMessageParam;

export function toMessages(
  data: AgentNodeData,
  scope: Scope,
  turns: StoredTurn[],
  calls: StoredToolCall[],
  secretBox: SecretBox,
): Message[] {
  const opening = data.messages.map(({ role, message }) => ({ role, content: renderText(message, scope) }) as Message);
  const said = turns.flatMap((turn): Message[] => {
    const answers = calls.filter((call) => call.turn === turn.turn).map((call) => toAnswer(call, secretBox));
    const message = openMessage(turn, secretBox);
    // Some providers refuse a message that says nothing.
    return isEmpty(message) ? answers : [message, ...answers];
  });
  return [...opening, ...said];
}

export function openMessage({ messageEnc }: StoredTurn, secretBox: SecretBox): AssistantMessage {
  return JSON.parse(secretBox.open(messageEnc, 'agent')) as AssistantMessage;
}

function isEmpty({ content, tool_calls: calls }: AssistantMessage): boolean {
  return calls === undefined && (content === null || content === '');
}

function toAnswer({ toolCallId, answerEnc }: StoredToolCall, secretBox: SecretBox): Message {
  const content = answerEnc === null ? '' : secretBox.open(answerEnc, 'agent');
  return { role: 'tool', tool_call_id: toolCallId, content };
}
