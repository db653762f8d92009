// The activity of the hand-written workflow. It sends a GET over keep-alive connections and parses the JSON answer.
import { Agent, request } from 'undici';
import type { TwinAnswer } from './jobs.js';

// The twin keeps as many connections to a target as the service.
const dispatcher = new Agent({ connections: 64 });

export async function call(url: string): Promise<TwinAnswer> {
  const { statusCode, body } = await request(url, { dispatcher });
  const answer = (await body.json()) as TwinAnswer;
  if (statusCode !== 200) throw new Error(`the target answered ${statusCode}`);
  return { well: answer.well };
}
