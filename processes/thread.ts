// The thread of a process (host.ts) does one task after another. A linter rule is disabled, because the port of a
// thread has no origin.
import { parentPort } from 'node:worker_threads';
import { perform, type Work } from './work.js';

/** Reports that the thread has started, so that its start is not part of the time of a task. */
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
