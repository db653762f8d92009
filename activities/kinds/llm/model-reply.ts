// The part of a model's reply that a node's result and the correction of the reply need.
import type OpenAI from 'openai';
import { toTokens } from '../../../config/model-price.js';
import { ownValue } from '../../../graph/json.js';
import { textOfContent } from '../../../graph/message-text.js';
import type { NodeOutput } from '../../../graph/template.js';
import { messageOf, refusalOf, withoutCalls, type AssistantMessage } from './provider-message.js';

export interface ModelReply {
  role: 'assistant';
  /** Empty if the model has not said anything. */
  content: string;
  /** The model's words when it refuses to answer. */
  refusal: string | null;
  model: string | undefined;
  finishReason: string | null | undefined;
  /** As the provider has reported it; untrusted. */
  usage: unknown;
  /**
   * The message to send back to its provider. Undefined in `EMPTY_REPLY` and in replies that an earlier release has
   * stored.
   */
  message?: AssistantMessage;
}

export const EMPTY_REPLY: ModelReply = {
  role: 'assistant',
  content: '',
  refusal: null,
  model: undefined,
  finishReason: null,
  usage: undefined,
};

/** Returns undefined for an answer without a readable message. */
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

/** Returns the sums of the token counts of several calls. */
export function sumUsage(usages: readonly unknown[]): Record<string, number> {
  return Object.fromEntries(
    COUNTS.map((name) => [name, usages.reduce<number>((sum, usage) => sum + toTokens(ownValue(usage, name)), 0)]),
  );
}
