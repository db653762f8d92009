// Admits API keys, whichever header carries them.
import type { CountedKey } from '../../db/access/rate-limits-repository.js';
import type { KeyScope } from '../../db/core/tables.js';
import type { AccessDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import { enter, type Admission, type Counting } from './admission.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

export type KeyScheme = 'X-Api-Key' | 'Bearer';

/**
 * Returns the user of the key and its scope. Throws 401 for an unknown or expired key and for a user who is not active,
 * 403 for a user without API access, and 429. The 403 and the 429 carry the rate limit's headers.
 */
export async function admitKey(
  { keyCounter, config }: Pick<AccessDeps, 'keyCounter' | 'config'>,
  apiKey: string,
  scheme: KeyScheme,
  counting: Counting = 'now',
): Promise<Admission & { scope: KeyScope }> {
  const limitOf = ({ rateLimit }: CountedKey): number => rateLimit ?? config.defaultRateLimit;
  const check = (key: CountedKey | undefined): CountedKey => {
    if (key === undefined) {
      const headers = { 'WWW-Authenticate': `${scheme} realm="api"` };
      throw new ApiError(401, 'authentication_failed', 'Invalid API key.', { headers });
    }
    if (key.apiAccess) return key;
    throw new ApiError(403, 'permission_denied', 'API access has not been granted to this user.', {
      headers: rateLimitHeaders(key, limitOf(key)),
      caller: { userId: key.userId, keyId: key.keyId },
    });
  };
  const entrance = { counter: keyCounter, credentials: apiKey, counting, check, limitOf };
  const { counted: key, headers, settle } = await enter(entrance);
  const { keyId, userId, projectId, scope } = key;
  const caller = { userId, projectId: projectId ?? undefined, credential: 'key', keyId } as const;
  return { caller, scope, headers, settle };
}
