// The thread of a process (host.ts) does one work after another. The linter is overruled, because the
// port of a thread has no origin.
import { parentPort } from 'node:worker_threads';
import { perform, type Work } from './work.js';

/** Reports that the thread has started, so that its start does not count as time of a work. */
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
