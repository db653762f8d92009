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
  /** The provider has not reported both counts. */
  isEstimated: boolean;
}

/** Why tokens of a call are estimated. */
const NOT_REPORTED = 'The provider reported no usage: it is estimated at one token for every 3 characters.';
const HALF_REPORTED =
  'The provider reported a part of the usage: the rest is estimated at one token for every 3 characters.';

/** Returns the exact cost of a completion in USD. What its usage does not say costs what `estimated` says. */
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
  /** Why they are estimated; empty where they are not. */
  reason: string;
}

/** Returns the tokens that a usage reports. A count that is missing, or is none, is estimated. */
export function usedTokens(usage: unknown, estimated: Tokens): UsedTokens {
  const { prompt_tokens: input, completion_tokens: output } = (usage ?? {}) as Record<string, unknown>;
  const tokens = {
    input: isCount(input) ? toTokens(input) : estimated.input,
    output: isCount(output) ? toTokens(output) : estimated.output,
  };
  if (isCount(input) && isCount(output)) return { tokens, isEstimated: false, reason: '' };
  return { tokens, isEstimated: true, reason: reportsUsage(usage) ? HALF_REPORTED : NOT_REPORTED };
}

/** Whether a usage has at least one count. */
export function reportsUsage(usage: unknown): boolean {
  const { prompt_tokens: input, completion_tokens: output } = (usage ?? {}) as Record<string, unknown>;
  return isCount(input) || isCount(output);
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

/** A provider's token count is untrusted input: what is none counts as 0. */
export function toTokens(value: unknown): number {
  // JSON has a -0, of which a price would be -0.
  return isCount(value) ? Math.abs(value) : 0;
}

const MAX_COUNT = 2 ** 53;

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;
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
