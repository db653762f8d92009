import type { ResolvedModel } from '../../../config/model-providers.js';
import { unmarkNumbers } from '../../../outgoing/exact-numbers.js';
import { Exact, toCharge, toTokens } from './llm-price.js';

const CHARACTERS_PER_TOKEN = 3;
const ANSWER_TOKENS = 4_096;

/** What the answer to a call may cost, and how long it may be. */
interface Asked {
  max_tokens?: number | null | undefined;
  max_completion_tokens?: number | null | undefined;
}

/**
 * Returns what a call is reserved at before it is made, in USD: one token for every 3 characters that are sent, and
 * `max_tokens` or 4,096 for the answer, at the model's price (extensions, section 4).
 */
export function reservedPrice(body: Asked, model: ResolvedModel): string {
  const sent = unmarkNumbers(JSON.stringify(body)).length;
  const answer = toTokens(body.max_tokens) || toTokens(body.max_completion_tokens) || ANSWER_TOKENS;
  const usage = { prompt_tokens: Math.ceil(sent / CHARACTERS_PER_TOKEN), completion_tokens: answer };
  return toCharge(usage, model).amountUsd;
}

/** Returns whether a call at `reserved` would pass `limit` when `spent` is spent. Plain decimals in USD. */
export function wouldPass(limit: string, spent: string, reserved: string): boolean {
  return new Exact(spent).plus(reserved).gt(limit);
}
