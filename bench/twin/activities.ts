// The activity of the hand-written workflow. It sends a GET over keep-alive connections and parses the JSON answer.
import { Agent, request } from 'undici';
import type { TwinAnswer } from './jobs.js';
import type { KeptResult, Store } from './store.js';

// The twin keeps as many connections to a target as the service.
const dispatcher = new Agent({ connections: 64 });

export async function call(url: string): Promise<TwinAnswer> {
  const { statusCode, body } = await request(url, { dispatcher });
  const answer = (await body.json()) as TwinAnswer;
  if (statusCode !== 200) throw new Error(`the target answered ${statusCode}`);
  return { well: answer.well };
}

/** The activities of a twin that keeps its runs and results. */
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
