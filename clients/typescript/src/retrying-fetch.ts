// A `fetch` that repeats what may be repeated: what the service did not do, or does once however often it is asked.
import { readRetryAfter } from './errors.js';
import { pause } from './pause.js';

export interface RetryOptions {
  /** Tries in all, the first included. */
  maxAttempts?: number;
  /** Pause before the second try where the service does not say how long; doubles after that. */
  firstDelayMs?: number;
  /** An answer that asks for more patience than this is given to the caller. A spent rate limit asks for a minute at most. */
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
      // At random up to twice as long, so that those who were refused together do not come back together.
      const delayMs = firstDelayMs * 2 ** (attempt - 1) * (1 + Math.random());
      try {
        const response = await send(request.clone());
        if (attempt >= maxAttempts || !(await mayRepeat(request, response))) return response;
        const askedMs = readRetryAfter(response.headers);
        if (askedMs !== undefined && askedMs > longestRetryAfterMs) return response;
        await response.body?.cancel();
        await pause(askedMs ?? delayMs, request.signal);
      } catch (error) {
        if (request.signal.aborted || attempt >= maxAttempts || !isRepeatable(request)) throw error;
        await pause(delayMs, request.signal);
      }
    }
  };
}

async function mayRepeat(request: Request, response: Response): Promise<boolean> {
  // The limit comes before everything else: nothing was done.
  if (response.status === 429) return true;
  if (!PASSING_STATUSES.includes(response.status)) return false;
  return isRepeatable(request) || (response.status === 503 && (await isOverloaded(response)));
}

/** A repetition changes nothing more than the request did. */
function isRepeatable({ method, headers }: Request): boolean {
  return SAFE_METHODS.includes(method) || headers.has('idempotency-key');
}

/** The service's own word that nothing was done; a 503 of a proxy says nothing of the kind. */
async function isOverloaded(response: Response): Promise<boolean> {
  try {
    const body = (await response.clone().json()) as { code?: unknown } | null;
    return body?.code === 'overloaded';
  } catch {
    return false;
  }
}
