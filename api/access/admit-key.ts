// API keys at the door, whichever header brought them: who speaks, may they, not too often. decisions.md section 2.
import type { KeyRequest, PolledText } from '../../db/runs/poll-repository.js';
import { WINDOW_SECONDS, type CountedKey } from '../../db/projects/rate-limits-repository.js';
import type { AppDeps } from '../deps.js';
import { ApiError, permissionDenied } from '../http/errors.js';
import type { Caller } from '../http/route.js';

export interface Admission {
  caller: Caller;
  /** What `request` polls; undefined when no run has the id. */
  run: PolledText | undefined;
  /** For the answer, whatever it will be. */
  headers: Record<string, string>;
}

/** The header that brings the key. */
export type KeyScheme = 'X-Api-Key' | 'Bearer';

/**
 * Counts the request and answers who the key speaks for. Throws 401 (unknown key), 403 (API access not granted), 429
 * (limit exceeded); the last two carry the rate limit's headers.
 *
 * Nothing is cached: a deleted key, a withdrawn permission and a changed limit hold from the next request on. What
 * cannot be counted is not admitted: with the database slow the request waits, with the database away it fails, as it
 * would anyway a moment later.
 */
export async function admitKey(
  { keyCounter, config }: AppDeps,
  apiKey: string,
  scheme: KeyScheme,
  request?: KeyRequest,
): Promise<Admission> {
  const { key, run } = await keyCounter.count(apiKey, request);
  if (key === undefined) {
    throw new ApiError(401, 'authentication_failed', 'Invalid API key.', {
      headers: { 'WWW-Authenticate': `${scheme} realm="api"` },
    });
  }
  const limit = key.rateLimit ?? config.defaultRateLimit;
  const headers = toHeaders(key, limit);
  if (!key.apiAccess) throw permissionDenied('API access has not been granted to this user.', headers);
  if (key.requests > limit) throw throttled(key.resetInSeconds, headers);
  return { caller: { userId: key.userId, credential: 'key' }, headers, run };
}

/** The usual three, the reset in Unix time as in most services, and the pair of the IETF draft, its reset from now on. */
function toHeaders({ requests, resetAtSeconds, resetInSeconds }: CountedKey, limit: number): Record<string, string> {
  const remaining = Math.max(0, limit - requests);
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetAtSeconds),
    'RateLimit-Policy': `"default";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"default";r=${remaining};t=${resetInSeconds}`,
  };
}

function throttled(seconds: number, headers: Record<string, string>): ApiError {
  const message = `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return new ApiError(429, 'throttled', message, { headers: { ...headers, 'Retry-After': String(seconds) } });
}
