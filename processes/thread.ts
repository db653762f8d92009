// The thread of a process (host.ts) does one work after the other. The port of a thread has no origin.
import { parentPort } from 'node:worker_threads';
import { perform, type Work } from './work.js';

/** This message says that the thread has started. The time of a work begins then. */
const READY = 'ready';

parentPort?.on('message', (work: Work) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(perform(work));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(READY);
