// Builds the conversation of an agent from its stored turns for each model call. It leaves Postgres only for the
// provider.
import type OpenAI from 'openai';
import type { StoredToolCall, StoredTurn } from '../../../db/agents/agent-repository.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import type { AgentNodeData } from '../../../graph/nodes/agent.js';
import { renderText, type Scope } from '../../../graph/template.js';

type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** A message of the model, in the form in which it is sent back to the model. */
export interface AssistantMessage {
  role: 'assistant';
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

export function toMessages(
  data: AgentNodeData,
  scope: Scope,
  turns: StoredTurn[],
  calls: StoredToolCall[],
  secretBox: SecretBox,
): Message[] {
  const opening = data.messages.map(({ role, message }) => ({ role, content: renderText(message, scope) }) as Message);
  const said = turns.flatMap(({ turn, messageEnc }): Message[] => {
    const assistant = JSON.parse(secretBox.open(messageEnc, 'agent')) as AssistantMessage;
    const answers = calls.filter((call) => call.turn === turn).map((call) => toAnswer(call, secretBox));
    return [assistant, ...answers];
  });
  return [...opening, ...said];
}

function toAnswer({ toolCallId, answerEnc }: StoredToolCall, secretBox: SecretBox): Message {
  const content = answerEnc === null ? '' : secretBox.open(answerEnc, 'agent');
  return { role: 'tool', tool_call_id: toolCallId, content };
}
