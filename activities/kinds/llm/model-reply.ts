// A model's reply, as far as a node's result needs it.
import type OpenAI from 'openai';
import { toTokens } from '../../../config/model-price.js';
import { ownValue } from '../../../graph/json.js';
import { textOfContent } from '../../../graph/message-text.js';
import type { NodeOutput } from '../../../graph/template.js';
import { messageOf, refusalOf, withoutCalls, type AssistantMessage } from './said-message.js';

export interface ModelReply {
  role: 'assistant';
  /** Empty where the model has said nothing. */
  content: string;
  /** The model says this instead of an answer that it refuses to give. */
  refusal: string | null;
  model: string | undefined;
  finishReason: string | null | undefined;
  /** The provider has reported this; it is untrusted. */
  usage: unknown;
  /** The message as it goes back to its provider; undefined for replies that an earlier release has stored. */
  message?: AssistantMessage;
}

export const NOTHING_SAID: ModelReply = {
  role: 'assistant',
  content: '',
  refusal: null,
  model: undefined,
  finishReason: null,
  usage: undefined,
};

/** Undefined for an answer without a message that can be read. */
export function readReply(answer: OpenAI.Chat.ChatCompletion): ModelReply | undefined {
  const message = messageOf(answer);
  const content = textOfContent(message?.['content']);
  if (message === undefined || content === undefined) return undefined;
  return {
    role: 'assistant',
    content: content ?? '',
    refusal: refusalOf(message),
    model: answer.model,
    finishReason: answer.choices[0]?.finish_reason,
    usage: answer.usage,
    message: withoutCalls(message),
  };
}

export function toOutput({ content, model, usage, finishReason }: ModelReply): NodeOutput {
  return { content, model, usage, finish_reason: finishReason };
}

const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const;

/** The token counts of several calls together. */
export function sumUsage(usages: readonly unknown[]): Record<string, number> {
  return Object.fromEntries(
    COUNTS.map((name) => [name, usages.reduce<number>((sum, usage) => sum + toTokens(ownValue(usage, name)), 0)]),
  );
}
