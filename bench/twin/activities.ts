// The activities of the hand-written workflow. `call` sends a GET over keep-alive connections and parses the JSON
// answer.
import { Agent, request } from 'undici';
import type { TwinAnswer } from './jobs.js';
import type { KeptResult, Store } from './store.js';

// The twin has a limit on connections to the target. The service has none (outgoing/connections.ts).
const dispatcher = new Agent({ connections: 64 });

export async function call(url: string): Promise<TwinAnswer> {
  const { statusCode, body } = await request(url, { dispatcher });
  const answer = (await body.json()) as TwinAnswer;
  if (statusCode !== 200) throw new Error(`the target answered ${statusCode}`);
  return { well: answer.well };
}

/** Returns the activities of the twins `normal` and `keeping`. Only `keeping` uses those that write to the store. */
export function createActivities(store: Store) {
  return {
    call,
    async callAndKeep({ url, ...of }: { url: string } & Omit<KeptResult, 'answer'>): Promise<TwinAnswer> {
      const answer = await call(url);
      await store.keepResult({ ...of, answer });
      return answer;
    },
    endRun: (runId: string, status: 'succeed' | 'failed') => store.endRun(runId, status),
  };
}
