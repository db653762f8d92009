import { WINDOW_SECONDS, type CountedWindow } from '../../db/access/rate-limits-repository.js';

/** The three usual headers state the reset as Unix time; the pair of the IETF draft states it in seconds from now. */
export function rateLimitHeaders(counted: CountedWindow, limit: number): Record<string, string> {
  const { requests, resetAtSeconds, resetInSeconds } = counted;
  const remaining = Math.max(0, limit - requests);
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetAtSeconds),
    'RateLimit-Policy': `"default";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"default";r=${remaining};t=${resetInSeconds}`,
  };
}
