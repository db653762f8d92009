// A model's reply, as far as a node's result needs it.
import type OpenAI from 'openai';
import { toTokens } from '../../../config/model-price.js';
import { ownValue } from '../../../graph/json.js';
import type { NodeOutput } from '../../../graph/template.js';

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
}

export const NOTHING_SAID: ModelReply = {
  role: 'assistant',
  content: '',
  refusal: null,
  model: undefined,
  finishReason: null,
  usage: undefined,
};

/** Undefined for an answer without a message. */
export function readReply(answer: OpenAI.Chat.ChatCompletion): ModelReply | undefined {
  const choice = answer?.choices?.[0];
  if (choice?.message === undefined || choice.message === null) return undefined;
  const { content, refusal } = choice.message;
  return {
    role: 'assistant',
    content: content ?? '',
    refusal: typeof refusal === 'string' && refusal !== '' ? refusal : null,
    model: answer.model,
    finishReason: choice.finish_reason,
    usage: answer.usage,
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
