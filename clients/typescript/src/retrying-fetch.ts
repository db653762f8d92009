// A `fetch` that retries requests if that is safe: the service rejected them unprocessed, or they are idempotent.
import { readRetryAfter } from './errors.js';
import { pause } from './pause.js';

export interface RetryOptions {
  /** Number of attempts, including the first. */
  maxAttempts?: number;
  /** Least pause before the second attempt, if the service requests no delay itself; doubles with each attempt. */
  firstDelayMs?: number;
  /** Responses that request a longer pause are returned to the caller. A spent rate limit requests at most a minute. */
  longestRetryAfterMs?: number;
  fetch?: (request: Request) => Promise<Response>;
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];
const PASSING_STATUSES = [500, 502, 503, 504];

export function createRetryingFetch(options: RetryOptions = {}): (request: Request) => Promise<Response> {
  const { maxAttempts = 5, firstDelayMs = 500, longestRetryAfterMs = 90_000 } = options;
  const send = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const leastMs = firstDelayMs * 2 ** (attempt - 1);
      // Random, so that clients refused together do not retry together, even if the service names the same delay to all.
      const jitterMs = leastMs * Math.random();
      try {
        const response = await send(request.clone());
        if (attempt >= maxAttempts || !(await mayRepeat(request, response))) return response;
        const askedMs = readRetryAfter(response.headers);
        if (askedMs !== undefined && askedMs > longestRetryAfterMs) return response;
        await response.body?.cancel();
        await pause((askedMs ?? leastMs) + jitterMs, request.signal);
      } catch (error) {
        if (request.signal.aborted || attempt >= maxAttempts || !isRepeatable(request)) throw error;
        await pause(leastMs + jitterMs, request.signal);
      }
    }
  };
}

async function mayRepeat(request: Request, response: Response): Promise<boolean> {
  // A 429 never means that a change was made: the service refuses before it makes one, only reads are counted
  // afterwards, and a provider's 429 is passed on.
  if (response.status === 429) return true;
  if (!PASSING_STATUSES.includes(response.status)) return false;
  return isRepeatable(request) || (response.status === 503 && (await isOverloaded(response)));
}

/** True for safe and idempotent methods, and for requests with an idempotency key. */
function isRepeatable({ method, headers }: Request): boolean {
  return SAFE_METHODS.includes(method) || headers.has('idempotency-key');
}

/** True if the service itself reports that it did not process the request. A proxy's 503 does not guarantee that. */
async function isOverloaded(response: Response): Promise<boolean> {
  try {
    const body = (await response.clone().json()) as { code?: unknown } | null;
    return body?.code === 'overloaded';
  } catch {
    return false;
  }
}
