// What a model call costs, and what it is reserved at before it is made.
import { Decimal } from 'decimal.js';
import type { ResolvedModel } from './model-providers.js';

// Prices have up to 30 digits and token counts up to 16, so no product or sum of them is rounded.
const Exact = Decimal.clone({ precision: 100, toExpPos: 1000, toExpNeg: -1000 });

/** Money for one call, as exact decimal text in USD. */
export interface ModelCharge {
  amountUsd: string;
  priceVersion: string;
  reason: string;
  /** The provider's usage counts as JSON text, for the ledger. */
  usage: string | null;
}

/** Returns the exact cost of a completion in USD. A usage value that is not a valid token count counts as 0. */
export function toCharge(usage: unknown, model: ResolvedModel): ModelCharge {
  const { prompt_tokens, completion_tokens } = (usage ?? {}) as Record<string, unknown>;
  return {
    amountUsd: priceOf({ input: toTokens(prompt_tokens), output: toTokens(completion_tokens) }, model),
    priceVersion: model.priceVersion,
    reason: usage === null || usage === undefined ? 'The provider reported no usage.' : '',
    usage: usage === undefined ? null : JSON.stringify(usage),
  };
}

export interface Tokens {
  input: number;
  output: number;
}

/** In USD, exact. */
export function priceOf({ input, output }: Tokens, model: ResolvedModel): string {
  const ofInput = new Exact(input).times(model.inputPricePerMillion);
  return ofInput.plus(new Exact(output).times(model.outputPricePerMillion)).div(1_000_000).toFixed();
}

/** A provider's token count is untrusted input: anything but a positive integer counts as 0. */
export function toTokens(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

const CHARACTERS_PER_TOKEN = 3;
const ANSWER_TOKENS = 4_096;

/** Where nobody has counted: one token for every 3 characters. */
export function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** How long the answer to a call may be: the parameters of a chat completion that say so. */
interface Asked {
  max_tokens?: unknown;
  max_completion_tokens?: unknown;
  n?: unknown;
  best_of?: unknown;
}

/**
 * The tokens that a call of so many characters is reserved at: those, and `max_tokens` or 4,096 for each answer. Of two limits
 * the larger one counts, because it is not known which one the provider obeys.
 */
export function reservedTokens(characters: number, { max_tokens, max_completion_tokens, n, best_of }: Asked): Tokens {
  const ofAnswer = Math.max(toAsked(max_tokens), toAsked(max_completion_tokens)) || ANSWER_TOKENS;
  const answers = Math.max(1, toAsked(n), toAsked(best_of));
  return { input: tokensIn(characters), output: Math.min(ofAnswer * answers, Number.MAX_SAFE_INTEGER) };
}

/** Some providers read texts as numbers. What is no positive number is 0. */
function toAsked(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && number > 0 ? Math.min(Math.ceil(number), Number.MAX_SAFE_INTEGER) : 0;
}
