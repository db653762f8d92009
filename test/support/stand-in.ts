// The model of cli/sandbox/ on the test stack, whose fake provider serves every model name.
import {
  sandboxAnswer,
  sandboxToolCall,
  type ChatMessage,
  type ResponseFormat,
} from '../../cli/sandbox/sandbox-answer.js';
import type { ModelAnswer, ModelRequest } from '../../harness/target/fake-model-provider.js';

/** Answers as the model of `npm start` does: a script for `FakeModelProvider.script`. */
export function standIn({ messages, body }: ModelRequest): ModelAnswer {
  const asked = messages as ChatMessage[];
  const tools = (body['tools'] ?? []) as { function: { name: string } }[];
  const names = tools.map((tool) => tool.function.name);
  const toolCall = sandboxToolCall(asked, names);
  if (toolCall !== undefined) return { toolCalls: [toolCall] };
  return { text: sandboxAnswer(asked, body['response_format'] as ResponseFormat | undefined) };
}
