// Reads the calls that the target process (target-process.ts) has recorded.
import type { RecordedCall } from './target-process.js';

/** Returns all calls so far, oldest first. */
export async function callsOf(targetUrl: string): Promise<RecordedCall[]> {
  return (await ask(targetUrl, 'calls')) as RecordedCall[];
}

export async function forgetCalls(targetUrl: string): Promise<void> {
  await ask(targetUrl, 'forget');
}

/** Answers every waiting call. */
export async function releaseCalls(targetUrl: string): Promise<void> {
  await ask(targetUrl, 'release');
}

async function ask(targetUrl: string, word: string): Promise<unknown> {
  return (await fetch(`${targetUrl}/-/${word}`)).json();
}
