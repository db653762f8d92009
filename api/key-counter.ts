// Counts the requests of API keys: those of one key that come while one is being counted are counted together.
import type { Db } from '../db/client.js';
import { countKeyRequests, type CountedKey } from '../db/rate-limits-repository.js';

export interface KeyCounter {
  /**
   * Looks the key up and counts this request; undefined when there is no such key. `requests` is this request's own
   * number. What the database says was true after the call, never before it: nobody joins a count that has been sent.
   */
  count(apiKey: string): Promise<CountedKey | undefined>;
}

interface Waiting {
  resolve: (counted: CountedKey | undefined) => void;
  reject: (error: unknown) => void;
}

/** A client that polls with many connections would otherwise wait for its own row, request by request. */
export function createKeyCounter(db: Db): KeyCounter {
  /** Of each key that is being counted now, who comes next. */
  const busy = new Map<string, Waiting[]>();

  async function countAll(apiKey: string, together: Waiting[]): Promise<void> {
    try {
      const counted = await countKeyRequests(db, apiKey, together.length);
      together.forEach(({ resolve }, index) => {
        const after = together.length - 1 - index;
        resolve(counted && { ...counted, requests: counted.requests - after });
      });
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  async function countInTurn(apiKey: string, first: Waiting): Promise<void> {
    for (let together = [first]; together.length > 0;) {
      const next: Waiting[] = [];
      busy.set(apiKey, next);
      await countAll(apiKey, together);
      together = next;
    }
    busy.delete(apiKey);
  }

  return {
    count: (apiKey) =>
      new Promise((resolve, reject) => {
        const waiting = busy.get(apiKey);
        if (waiting === undefined) void countInTurn(apiKey, { resolve, reject });
        else waiting.push({ resolve, reject });
      }),
  };
}
