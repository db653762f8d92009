// Admits session tokens.
import type { CountedWindow, TokenSubject } from '../../db/access/rate-limits-repository.js';
import type { AccessDeps } from './deps.js';
import { enter, type Admission, type Counting } from './admission.js';
import { invalidToken } from './session-tokens.js';

/**
 * Returns the user whom the token names. All sessions of a user share one count. Throws 401 for a user who does not
 * exist or is not active and for an ended session, and 429 above SESSION_RATE_LIMIT. API access is required of keys
 * only.
 */
export async function admitSession(
  { sessionCounter, config }: Pick<AccessDeps, 'sessionCounter' | 'config'>,
  subject: TokenSubject,
  counting: Counting,
): Promise<Admission> {
  const limitOf = (): number => config.sessionRateLimit;
  const check = (counted: CountedWindow | undefined): CountedWindow => {
    if (counted === undefined) throw invalidToken();
    return counted;
  };
  const entrance = { counter: sessionCounter, credentials: subject, counting, check, limitOf };
  const { counted, headers, settle } = await enter(entrance);
  const sessionId = subject.by === 'session' ? { sessionId: subject.sessionId } : {};
  return { caller: { userId: counted.userId, credential: 'session', ...sessionId }, headers, settle };
}
