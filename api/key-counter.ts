// Counts the requests of API keys: those of one key that come while one is being counted are counted together.
import type { Db } from '../db/client.js';
import { countKeyRequests, type CountedKey } from '../db/rate-limits-repository.js';
import { together } from './together.js';

export interface KeyCounter {
  /**
   * Looks the key up and counts this request; undefined when there is no such key. `requests` is this request's own
   * number.
   */
  count(apiKey: string): Promise<CountedKey | undefined>;
}

/** A client that polls with many connections would otherwise wait for its own row, request by request. */
export function createKeyCounter(db: Db): KeyCounter {
  /** Of each key that is being counted now. */
  const counters = new Map<string, (request: undefined) => Promise<CountedKey | undefined>>();

  async function countAll(apiKey: string, count: number): Promise<(CountedKey | undefined)[]> {
    const counted = await countKeyRequests(db, apiKey, count);
    return Array.from({ length: count }, (_, index) => {
      return counted && { ...counted, requests: counted.requests - (count - 1 - index) };
    });
  }

  function counterOf(apiKey: string) {
    const known = counters.get(apiKey);
    if (known !== undefined) return known;
    const ask = (requests: undefined[]) => countAll(apiKey, requests.length);
    const counter = together(ask, { most: Infinity, atOnce: 1, onIdle: () => counters.delete(apiKey) });
    counters.set(apiKey, counter);
    return counter;
  }

  return { count: (apiKey) => counterOf(apiKey)(undefined) };
}
