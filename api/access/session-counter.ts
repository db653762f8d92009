// Counts the requests of sessions, those of a user together, as key-counter.ts does those of keys.
import type { Db } from '../../db/core/client.js';
import {
  countSessionRequests,
  uncountSessionRequests,
  type CountedWindow,
  type TokenSubject,
} from '../../db/projects/rate-limits-repository.js';
import { togetherByName } from '../../db/core/together.js';

export interface SessionCounter {
  /** Finds the user and counts this request; undefined when the token names nobody who may come in. */
  count(subject: TokenSubject): Promise<CountedWindow | undefined>;
  /** Takes a counted request back. Returns the user's requests as they are then; undefined when that window is over. */
  uncount(counted: CountedWindow): Promise<CountedWindow | undefined>;
}

const MOST_TOGETHER = 1_000;

export function createSessionCounter(db: Db): SessionCounter {
  const count = togetherByName(async (_name, subjects: TokenSubject[]) => {
    const counted = await countSessionRequests(db, subjects[0]!, subjects.length);
    // The last of them has the highest number.
    return subjects.map(
      (_, index) => counted && { ...counted, requests: counted.requests - subjects.length + 1 + index },
    );
  }, MOST_TOGETHER);
  const uncount = togetherByName(async (_name, given: CountedWindow[]) => {
    const { userId, resetAtSeconds } = given[0]!;
    const left = await uncountSessionRequests(db, userId, { count: given.length, resetAtSeconds });
    return given.map(() => left);
  }, MOST_TOGETHER);

  return {
    count: (subject) => count(JSON.stringify(subject), subject),
    async uncount(counted) {
      const requests = await uncount(`${counted.userId} ${counted.resetAtSeconds}`, counted);
      return requests === undefined ? undefined : { ...counted, requests };
    },
  };
}
