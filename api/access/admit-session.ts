// Admission of session tokens: identifies the user, counts the request.
import type { TokenSubject } from '../../db/projects/rate-limits-repository.js';
import type { AppDeps } from '../deps.js';
import { throttled } from '../http/errors.js';
import type { Caller, Settle } from '../http/route.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { invalidToken } from './session-tokens.js';

export interface SessionAdmission {
  caller: Caller;
  /** The rate limit's headers, which every answer carries. */
  headers: Record<string, string>;
  settle: Settle;
}

/**
 * Counts the request for the user whom the token names, whichever session it is of. Throws 401 for a user who does not exist
 * or is not active and for a session that is over, and 429, with the rate limit's headers, beyond SESSION_RATE_LIMIT.
 * `mayBeUnchanged`: the answer may be a 304, which does not count; a 429 is left to `settle` then. Access to the API is asked
 * of keys only.
 */
export async function admitSession(
  { sessionCounter, config }: Pick<AppDeps, 'sessionCounter' | 'config'>,
  subject: TokenSubject,
  mayBeUnchanged: boolean,
): Promise<SessionAdmission> {
  const counted = await sessionCounter.count(subject);
  if (counted === undefined) throw invalidToken();
  const limit = config.sessionRateLimit;
  const headers = rateLimitHeaders(counted, limit);
  const refuseOver = (): void => {
    if (counted.requests > limit) throw throttled(counted.resetInSeconds, headers);
  };
  if (!mayBeUnchanged) refuseOver();
  const settle: Settle = async (isToCount) => {
    if (isToCount) {
      refuseOver();
      return headers;
    }
    return rateLimitHeaders((await sessionCounter.uncount(counted)) ?? counted, limit);
  };
  const sessionId = subject.by === 'session' ? { sessionId: subject.sessionId } : {};
  return { caller: { userId: counted.userId, credential: 'session', ...sessionId }, headers, settle };
}
