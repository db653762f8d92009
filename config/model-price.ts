// Calculates the price of a model call, and the tokens to reserve before it is made.
import { Decimal } from 'decimal.js';
import type { ResolvedModel } from './model-providers.js';

// Prices have up to 30 digits and token counts up to 16, so no product or sum of them is rounded.
const Exact = Decimal.clone({ precision: 100, toExpPos: 1000, toExpNeg: -1000 });

/** The cost of one call, as exact decimal text in USD. */
export interface ModelCharge {
  amountUsd: string;
  priceVersion: string;
  reason: string;
  /** The provider's usage counts as JSON text, for the ledger. */
  usage: string | null;
  tokens: Tokens;
  /** True if at least one of the two counts is estimated. */
  isEstimated: boolean;
}

const NOT_REPORTED = 'The provider reported no usage: it is estimated at one token for every 3 characters.';
const HALF_REPORTED =
  'The provider reported a part of the usage: the rest is estimated at one token for every 3 characters.';

/** Returns the cost of a completion in USD, not rounded. Counts that its usage lacks are taken from `estimated`. */
export function toCharge(usage: unknown, model: ResolvedModel, estimated: Tokens): ModelCharge {
  const { tokens, isEstimated, reason } = usedTokens(usage, estimated);
  return {
    amountUsd: priceOf(tokens, model),
    priceVersion: model.priceVersion,
    reason,
    usage: usage === undefined ? null : JSON.stringify(usage),
    tokens,
    isEstimated,
  };
}

interface UsedTokens {
  tokens: Tokens;
  isEstimated: boolean;
  /** The reason of the estimate; empty if nothing is estimated. */
  reason: string;
}

/** Returns the tokens that a usage reports. Missing and invalid counts are estimated. */
export function usedTokens(usage: unknown, estimated: Tokens): UsedTokens {
  const { prompt_tokens: input, completion_tokens: output } = (usage ?? {}) as Record<string, unknown>;
  const tokens = {
    input: isCount(input) ? toTokens(input) : estimated.input,
    output: isCount(output) ? toTokens(output) : estimated.output,
  };
  if (isCount(input) && isCount(output)) return { tokens, isEstimated: false, reason: '' };
  return { tokens, isEstimated: true, reason: reportsUsage(usage) ? HALF_REPORTED : NOT_REPORTED };
}

/** Returns true if a usage has at least one count. */
export function reportsUsage(usage: unknown): boolean {
  const { prompt_tokens: input, completion_tokens: output } = (usage ?? {}) as Record<string, unknown>;
  return isCount(input) || isCount(output);
}

export interface Tokens {
  input: number;
  output: number;
}

export function priceOf({ input, output }: Tokens, model: ResolvedModel): string {
  const ofInput = new Exact(input).times(model.inputPricePerMillion);
  return ofInput.plus(new Exact(output).times(model.outputPricePerMillion)).div(1_000_000).toFixed();
}

/** A provider's token count is untrusted: invalid counts become 0. */
export function toTokens(value: unknown): number {
  // JSON has a -0, which would make the price -0.
  return isCount(value) ? Math.abs(value) : 0;
}

const MAX_COUNT = 2 ** 53;

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;
}

const CHARACTERS_PER_TOKEN = 3;
const ANSWER_TOKENS = 4_096;

/** Estimates the tokens of a text: one for every 3 characters. */
export function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Fields with words of the protocol, which the model has not produced. */
const PROTOCOL_FIELDS = new Set(['role', 'id', 'type']);

/** Returns the length of all texts in a model's output: content, refusals, names and arguments of tool calls. */
export function charactersIn(words: unknown): number {
  if (typeof words === 'string') return words.length;
  if (Array.isArray(words)) return words.reduce<number>((sum, part) => sum + charactersIn(part), 0);
  if (typeof words !== 'object' || words === null) return 0;
  return Object.entries(words).reduce(
    (sum, [key, part]) => sum + (PROTOCOL_FIELDS.has(key) ? 0 : charactersIn(part)),
    0,
  );
}

/** The parameters of a chat completion that limit the length and the number of its answers. */
interface LengthLimits {
  max_tokens?: unknown;
  max_completion_tokens?: unknown;
  n?: unknown;
  best_of?: unknown;
}

/**
 * Returns the tokens to reserve for a call with this many characters: those of the input, and for each answer its limit
 * or 4,096. The larger one of `max_tokens` and `max_completion_tokens` counts, because it is unknown which one the
 * provider obeys.
 */
export function reservedTokens(
  characters: number,
  { max_tokens, max_completion_tokens, n, best_of }: LengthLimits,
): Tokens {
  const ofAnswer = Math.max(toLimit(max_tokens), toLimit(max_completion_tokens)) || ANSWER_TOKENS;
  const answers = Math.max(1, toLimit(n), toLimit(best_of));
  return { input: tokensIn(characters), output: Math.min(ofAnswer * answers, Number.MAX_SAFE_INTEGER) };
}

/** Some providers read text as numbers. Anything but a positive number becomes 0. */
function toLimit(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && number > 0 ? Math.min(Math.ceil(number), Number.MAX_SAFE_INTEGER) : 0;
}
