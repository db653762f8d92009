import { isObject, ownValue } from '../../graph/json.js';

export interface TokenCounts {
  /** Null where the provider has reported no usage. */
  input: number | null;
  output: number | null;
}

/**
 * The token counts of a call, out of what the provider has reported as its usage (JSON text). That is untrusted: anything
 * but a positive integer counts as 0, as it does for the price.
 */
export function tokenCountsOf(usage: string | null): TokenCounts {
  const reported: unknown = usage === null ? null : JSON.parse(usage);
  if (!isObject(reported)) return { input: null, output: null };
  return {
    input: toCount(ownValue(reported, 'prompt_tokens')),
    output: toCount(ownValue(reported, 'completion_tokens')),
  };
}

function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
