import type { IncomingHttpHeaders } from 'node:http';
import type { CountedWindow } from '../../db/access/rate-limits-repository.js';
import { parseTags, parseWait } from '../http/conditional.js';
import { throttled } from '../http/errors.js';
import type { Settle } from '../http/app-state.js';
import type { Caller } from '../http/route.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import type { RequestCounter } from './request-counter.js';

/**
 * `now`: the request counts, whatever its answer is. `304 later`: it counts, and a 304 takes it back. `unless 304`: it is not
 * counted before the answer is known, because the caller most likely has that answer already.
 */
export type Counting = 'now' | '304 later' | 'unless 304';

/** How a request counts to a route whose 304s do not count. One that waits for a change most likely gets one. */
export function countingOf(headers: IncomingHttpHeaders): Counting {
  if (parseTags(headers['if-none-match']).length === 0) return 'now';
  return parseWait(headers['prefer']) === undefined ? 'unless 304' : '304 later';
}

export interface Admission {
  caller: Caller;
  /** The rate limit's headers, which every answer carries. */
  headers: Record<string, string>;
  /** Undefined where the request counts, whatever its answer is. */
  settle: Settle | undefined;
}

interface Entrance<Credentials, Counted extends CountedWindow> {
  counter: RequestCounter<Credentials, Counted>;
  credentials: Credentials;
  counting: Counting;
  /** Throws for credentials that name nobody who may come in (undefined), and for callers who may not. */
  check: (counted: Counted | undefined) => Counted;
  limitOf: (counted: Counted) => number;
}

/**
 * Looks the caller up and counts the request as `counting` says. Throws 429, with the rate limit's headers, when the request
 * counts and the limit is exceeded. Nothing is cached: what is changed of a caller takes effect with the next request. A
 * request that cannot be counted is not admitted: it waits for a slow database and fails without one.
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
