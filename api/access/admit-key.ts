// Admission of API keys, whichever header carries them: identifies the caller, checks the permission, counts the
// request.
import type { KeyRequest, PolledText } from '../../db/runs/poll-repository.js';
import type { KeyScope } from '../../db/core/tables.js';
import type { AppDeps } from '../deps.js';
import { ApiError, throttled } from '../http/errors.js';
import type { Caller, Settle } from '../http/route.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

export interface Admission {
  caller: Caller;
  scope: KeyScope;
  /** The run that `request` polls; undefined when no run has the id. */
  run: PolledText | undefined;
  /** The rate limit's headers, which every answer carries. */
  headers: Record<string, string>;
  settle: Settle;
}

/** The header that carries the key. */
export type KeyScheme = 'X-Api-Key' | 'Bearer';

/**
 * Counts the request and returns the user of the key. Throws 401 (unknown or expired key, or a user who is not active), 403 (API access not granted) or 429
 * (limit exceeded); the last two carry the rate limit's headers. Nothing is cached: a deleted key, a withdrawn
 * permission and a changed limit take effect with the next request. A request that cannot be counted is not admitted:
 * it waits for a slow database and fails without one.
 */
export async function admitKey(
  { keyCounter, config }: Pick<AppDeps, 'keyCounter' | 'config'>,
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
  const headers = rateLimitHeaders(key, limit);
  if (!key.apiAccess) {
    const message = 'API access has not been granted to this user.';
    throw new ApiError(403, 'permission_denied', message, {
      headers,
      caller: { userId: key.userId, keyId: key.keyId },
    });
  }
  const isCounted = run?.isUnchanged !== true;
  if (isCounted && key.requests > limit) throw throttled(key.resetInSeconds, headers);
  const settle: Settle = async (isToCount) => {
    if (isToCount === isCounted) return headers;
    if (isToCount) return (await admitKey({ keyCounter, config }, apiKey, scheme)).headers;
    const left = await keyCounter.uncount(apiKey, key);
    return left === undefined ? headers : rateLimitHeaders(left, limit);
  };
  const { keyId, userId, projectId } = key;
  const caller = { userId, projectId: projectId ?? undefined, credential: 'key', keyId } as const;
  return { caller, scope: key.scope, headers, run, settle };
}
