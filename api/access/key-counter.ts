// Counts the requests of API keys. Requests of one key that arrive while another is being counted are counted together.
// The same statement reads the runs that they poll, because most requests of clients are polls.
import { countAndPoll, type KeyRequest, type PolledText } from '../../db/runs/poll-repository.js';
import type { Db } from '../../db/core/client.js';
import { countKeyRequests, uncountRequests, type CountedKey } from '../../db/projects/rate-limits-repository.js';
import { togetherByName } from '../../db/core/together.js';

export interface CountedRequest {
  /** Undefined when there is no such key, or it has expired. `requests` is the number of this request within the window. */
  key: CountedKey | undefined;
  /** The run that the request polls; undefined when it is no poll, may not see the run, or no run has the id. */
  run: PolledText | undefined;
}

export interface KeyCounter {
  /** Looks the key up and counts this request. */
  count(apiKey: string, request?: KeyRequest): Promise<CountedRequest>;
  /** Takes a counted request back. Returns the key as it is then; undefined when that window is over. */
  uncount(apiKey: string, key: CountedKey): Promise<CountedKey | undefined>;
}

/** The answer to one poll may hold results of half a megabyte. */
const MOST_TOGETHER = 24;
const MOST_UNCOUNTED = 1_000;

/** Without batching, a client that polls on many connections would wait for its key's row lock once per request. */
export function createKeyCounter(db: Db, limits: { retentionDays: number; defaultRateLimit: number }): KeyCounter {
  const count = togetherByName(countAll, MOST_TOGETHER);
  /** By window and key. */
  const uncount = togetherByName(async (name, given: CountedKey[]) => {
    const { resetAtSeconds } = given[0]!;
    const apiKey = name.slice(name.indexOf(' ') + 1);
    const left = await uncountRequests(db, apiKey, { count: given.length, resetAtSeconds });
    return given.map(() => left);
  }, MOST_UNCOUNTED);

  async function countAll(apiKey: string, requests: KeyRequest[]): Promise<CountedRequest[]> {
    const { key, runs } = requests.some(({ runId }) => runId !== undefined)
      ? await countAndPoll(db, apiKey, requests, limits)
      : { key: await countKeyRequests(db, apiKey, requests.length), runs: [] };
    const answers: CountedRequest[] = [];
    let behind = 0;
    // The last of them has the highest number; what finds its run unchanged has none of its own.
    for (const [index] of [...requests.entries()].toReversed()) {
      const run = runs[index];
      answers.push({ key: key && { ...key, requests: key.requests - behind }, run });
      if (run?.isUnchanged !== true) behind += 1;
    }
    return answers.toReversed();
  }

  return {
    count: (apiKey, request = {}) => count(apiKey, request),
    async uncount(apiKey, key) {
      const requests = await uncount(`${key.resetAtSeconds} ${apiKey}`, key);
      return requests === undefined ? undefined : { ...key, requests };
    },
  };
}
