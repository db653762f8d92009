import { Decimal } from 'decimal.js';
import type { ResolvedModel } from '../../../config/model-providers.js';
import type { Charge } from '../../node/failures.js';

// Prices have up to 30 digits and token counts up to 16, so no product or sum of them is rounded.
export const Exact = Decimal.clone({ precision: 100, toExpPos: 1000, toExpNeg: -1000 });

/** Returns the exact cost of a completion in USD. A usage value that is not a valid token count counts as 0. */
export function toCharge(usage: unknown, model: ResolvedModel): Charge {
  const { prompt_tokens, completion_tokens } = (usage ?? {}) as Record<string, unknown>;
  const input = new Exact(toTokens(prompt_tokens)).times(model.inputPricePerMillion);
  const output = new Exact(toTokens(completion_tokens)).times(model.outputPricePerMillion);
  return {
    amountUsd: input.plus(output).div(1_000_000).toFixed(),
    priceVersion: model.priceVersion,
    reason: usage === null || usage === undefined ? 'The provider reported no usage.' : '',
    usage: usage === undefined ? null : JSON.stringify(usage),
  };
}

/** A provider's token count is untrusted input: anything but a positive integer counts as 0. */
export function toTokens(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
