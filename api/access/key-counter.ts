// Counts the requests of API keys: those of one key that come while one is being counted are counted together. What
// those among them that are polls ask for is read in the same statement: polls are most of what clients send.
import { countAndPoll, type KeyRequest, type PolledText } from '../../db/runs/poll-repository.js';
import type { Db } from '../../db/core/client.js';
import { countKeyRequests, type CountedKey } from '../../db/projects/rate-limits-repository.js';
import { together } from './together.js';

export interface CountedRequest {
  /** Undefined when there is no such key. `requests` is this request's own number. */
  key: CountedKey | undefined;
  /** What the request polls, if it does and may: undefined when no run has the id. */
  run: PolledText | undefined;
}

export interface KeyCounter {
  /** Looks the key up and counts this request. */
  count(apiKey: string, request?: KeyRequest): Promise<CountedRequest>;
}

/** Polls may bring results of half a megabyte each. */
const MOST_TOGETHER = 24;

/** A client that polls with many connections would otherwise wait for its own row, request by request. */
export function createKeyCounter(db: Db, limits: { retentionDays: number; defaultRateLimit: number }): KeyCounter {
  /** Of each key that is being counted now. */
  const counters = new Map<string, (request: KeyRequest) => Promise<CountedRequest>>();

  async function countAll(apiKey: string, requests: KeyRequest[]): Promise<CountedRequest[]> {
    const { key, runs } = requests.some(({ runId }) => runId !== undefined)
      ? await countAndPoll(db, apiKey, requests, limits)
      : { key: await countKeyRequests(db, apiKey, requests.length), runs: [] };
    return requests.map((_request, index) => ({
      key: key && { ...key, requests: key.requests - (requests.length - 1 - index) },
      run: runs[index],
    }));
  }

  function counterOf(apiKey: string) {
    const known = counters.get(apiKey);
    if (known !== undefined) return known;
    const ask = (requests: KeyRequest[]) => countAll(apiKey, requests);
    const counter = together(ask, { most: MOST_TOGETHER, onIdle: () => counters.delete(apiKey) });
    counters.set(apiKey, counter);
    return counter;
  }

  return { count: (apiKey, request = {}) => counterOf(apiKey)(request) };
}
