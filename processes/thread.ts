// The thread of a process (host.ts) does one work after the other. The port of a thread has no origin.
import { parentPort } from 'node:worker_threads';
import { perform, type Work } from './work.js';

/** This message says that the thread has started. The time of a work begins then. */
const READY = 'ready';

async function answer(work: Work): Promise<void> {
  const reply = await perform(work);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(reply);
}

// An error ends the thread.
parentPort?.on('message', (work: Work) => void answer(work));
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(READY);
