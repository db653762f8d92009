// Counts the requests of API keys and of sessions. Requests of one caller that arrive during a count are counted
// together: otherwise a client that polls on many connections would wait for its row's lock once per request.
import type { Db } from '../../db/core/client.js';
import {
  countKeyRequests,
  countSessionRequests,
  uncountKeyRequests,
  uncountSessionRequests,
  type CountedKey,
  type CountedWindow,
  type TokenSubject,
  type Uncounted,
} from '../../db/access/rate-limits-repository.js';
import { outageOf } from '../../db/core/outage.js';
import { togetherByName } from '../../db/core/together.js';

/**
 * `find` and `count` return undefined for unknown or expired credentials, for an ended session, and for a user who is
 * not active.
 */
export interface RequestCounter<Credentials, Counted extends CountedWindow> {
  find(credentials: Credentials): Promise<Counted | undefined>;
  /** `requests` of the result is this request's number within the window. */
  count(credentials: Credentials): Promise<Counted | undefined>;
  /**
   * Undoes a count. Returns the window afterwards; undefined if the database has counted in a later window since, has
   * deleted the window's row, or has no room to write.
   */
  uncount(counted: Counted): Promise<Counted | undefined>;
}

interface Statements<Credentials, Counted> {
  nameOf: (credentials: Credentials) => string;
  ownerOf: (counted: Counted) => number;
  count(credentials: Credentials, count: number): Promise<Counted | undefined>;
  uncount(owner: number, uncounted: Uncounted): Promise<number | undefined>;
}

const MOST_TOGETHER = 1_000;

export function createKeyCounter(db: Db): RequestCounter<string, CountedKey> {
  return createCounter({
    nameOf: (apiKey) => apiKey,
    ownerOf: ({ keyId }) => keyId,
    count: (apiKey, count) => countKeyRequests(db, apiKey, count),
    uncount: (keyId, uncounted) => uncountKeyRequests(db, keyId, uncounted),
  });
}

export function createSessionCounter(db: Db): RequestCounter<TokenSubject, CountedWindow> {
  return createCounter({
    nameOf: (subject) => JSON.stringify(subject),
    ownerOf: ({ userId }) => userId,
    count: (subject, count) => countSessionRequests(db, subject, count),
    uncount: (userId, uncounted) => uncountSessionRequests(db, userId, uncounted),
  });
}

function createCounter<Credentials, Counted extends CountedWindow>(
  statements: Statements<Credentials, Counted>,
): RequestCounter<Credentials, Counted> {
  const { nameOf, ownerOf } = statements;
  const find = togetherByName(async (_name, asking: Credentials[]) => {
    const found = await statements.count(asking[0]!, 0);
    return asking.map(() => found);
  }, MOST_TOGETHER);
  const count = togetherByName(async (_name, asking: Credentials[]) => {
    const counted = await statements.count(asking[0]!, asking.length).catch(async (error: unknown) => {
      // Reads are answered while the database has no room to count them.
      if (outageOf(error) !== 'no room') throw error;
      const found = await statements.count(asking[0]!, 0);
      return found && { ...found, requests: found.requests + asking.length };
    });
    // The last request of the batch has the highest number.
    return asking.map((_, index) => counted && { ...counted, requests: counted.requests - asking.length + 1 + index });
  }, MOST_TOGETHER);
  const uncount = togetherByName(async (_name, uncounts: Counted[]) => {
    const [first] = uncounts as [Counted];
    const uncounted = { count: uncounts.length, resetAtSeconds: first.resetAtSeconds };
    const requests = await statements.uncount(ownerOf(first), uncounted).catch((error: unknown) => {
      if (outageOf(error) === 'no room') return undefined;
      throw error;
    });
    return uncounts.map((counted) => (requests === undefined ? undefined : { ...counted, requests }));
  }, MOST_TOGETHER);

  return {
    find: (credentials) => find(nameOf(credentials), credentials),
    count: (credentials) => count(nameOf(credentials), credentials),
    uncount: (counted) => uncount(`${ownerOf(counted)} ${counted.resetAtSeconds}`, counted),
  };
}
