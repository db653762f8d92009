// The code that runs in a thread (host.ts): one work after the other. A thread's port has no origin.
import { parentPort } from 'node:worker_threads';
import { perform, type Work } from './work.js';

/** Tells that the thread is there: the time of a work begins then. */
export const READY = 'ready';

parentPort?.on('message', (work: Work) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(perform(work));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(READY);
