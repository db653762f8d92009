// A model call has a price, and is reserved at an estimate before it is made.
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
  tokens: Tokens;
  /** The provider has reported no usage. */
  isEstimated: boolean;
}

/** Why the tokens of a call are estimated. */
export const NOT_REPORTED = 'The provider reported no usage: it is estimated at one token for every 3 characters.';

/**
 * Returns the exact cost of a completion in USD; of one without usage, what `estimated` costs. Of a usage, a value that is
 * not a valid token count counts as 0.
 */
export function toCharge(usage: unknown, model: ResolvedModel, estimated: Tokens): ModelCharge {
  const { prompt_tokens, completion_tokens } = (usage ?? {}) as Record<string, unknown>;
  const isEstimated = !isCount(prompt_tokens) && !isCount(completion_tokens);
  const tokens = isEstimated ? estimated : { input: toTokens(prompt_tokens), output: toTokens(completion_tokens) };
  return {
    amountUsd: priceOf(tokens, model),
    priceVersion: model.priceVersion,
    reason: isEstimated ? NOT_REPORTED : '',
    usage: usage === undefined ? null : JSON.stringify(usage),
    tokens,
    isEstimated,
  };
}

export interface Tokens {
  input: number;
  output: number;
}

/** Returns the exact price in USD. */
export function priceOf({ input, output }: Tokens, model: ResolvedModel): string {
  const ofInput = new Exact(input).times(model.inputPricePerMillion);
  return ofInput.plus(new Exact(output).times(model.outputPricePerMillion)).div(1_000_000).toFixed();
}

/** A provider's token count is untrusted input: anything but a positive integer counts as 0. */
export function toTokens(value: unknown): number {
  return isCount(value) ? value : 0;
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

const CHARACTERS_PER_TOKEN = 3;
const ANSWER_TOKENS = 4_096;

/** Tokens that nobody has counted are estimated: one for every 3 characters. */
export function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Words of the protocol, which the model has not said. */
const NOT_SAID = new Set(['role', 'id', 'type']);

/** The length of all texts in what the model has said: content, refusals, names and arguments of tool calls. */
export function charactersIn(said: unknown): number {
  if (typeof said === 'string') return said.length;
  if (Array.isArray(said)) return said.reduce<number>((sum, part) => sum + charactersIn(part), 0);
  if (typeof said !== 'object' || said === null) return 0;
  return Object.entries(said).reduce((sum, [key, part]) => sum + (NOT_SAID.has(key) ? 0 : charactersIn(part)), 0);
}

/** These parameters of a chat completion limit the length of the answer. */
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
