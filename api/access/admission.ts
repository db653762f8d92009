import type { IncomingHttpHeaders } from 'node:http';
import type { CountedWindow } from '../../db/access/rate-limits-repository.js';
import { parseTags, parseWait } from '../http/conditional.js';
import { throttled } from '../http/errors.js';
import type { Settle } from '../http/app-state.js';
import type { Caller } from '../http/route.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import type { RequestCounter } from './request-counter.js';

/**
 * - `now`: the request counts, whatever its answer is.
 * - `304 later`: the request is counted at once; a 304 undoes that.
 * - `unless 304`: the request is counted when its answer is known, because a 304 is likely.
 */
export type Counting = 'now' | '304 later' | 'unless 304';

/**
 * Chooses the counting for a route whose 304s do not count. A request that waits for a change rarely gets a 304, so it
 * is counted at once.
 */
export function countingOf(headers: IncomingHttpHeaders): Counting {
  if (parseTags(headers['if-none-match']).length === 0) return 'now';
  return parseWait(headers['prefer']) === undefined ? 'unless 304' : '304 later';
}

export interface Admission {
  caller: Caller;
  /** Sent with every answer. */
  headers: Record<string, string>;
  /** Undefined if the request counts, whatever its answer is. */
  settle: Settle | undefined;
}

interface Entrance<Credentials, Counted extends CountedWindow> {
  counter: RequestCounter<Credentials, Counted>;
  credentials: Credentials;
  counting: Counting;
  /** Throws for unknown credentials (undefined), and for callers without access. */
  check: (counted: Counted | undefined) => Counted;
  limitOf: (counted: Counted) => number;
}

/**
 * Looks the caller up and counts the request according to `counting`. Throws the errors of `check`, and 429, with the
 * rate limit's headers, if the limit is exceeded; for `unless 304`, `settle` throws the 429.
 *
 * Nothing is cached, so a change to a caller takes effect with the next request. A request that cannot be counted is
 * not admitted: it waits while the database is slow, and fails if the database is down. The exception is a database
 * that has no room to count, but still answers reads (request-counter.ts).
 */
export async function enter<Credentials, Counted extends CountedWindow>(
  entrance: Entrance<Credentials, Counted>,
): Promise<{ counted: Counted; headers: Record<string, string>; settle: Settle | undefined }> {
  const { counter, credentials, counting, check, limitOf } = entrance;
  const count = async (): Promise<Counted> => {
    const counted = check(await counter.count(credentials));
    const limit = limitOf(counted);
    if (counted.requests > limit) throw throttled(counted.resetInSeconds, rateLimitHeaders(counted, limit));
    return counted;
  };
  const isCounted = counting !== 'unless 304';
  const counted = isCounted ? await count() : check(await counter.find(credentials));
  const headers = rateLimitHeaders(counted, limitOf(counted));
  const settle: Settle = async (isToCount) => {
    if (isToCount === isCounted) return headers;
    const now = isToCount ? await count() : ((await counter.uncount(counted)) ?? counted);
    return rateLimitHeaders(now, limitOf(now));
  };
  return { counted, headers, settle: counting === 'now' ? undefined : settle };
}
