// One of the processes of processes.ts. The work is done in a thread, whose memory is limited: Node.js may end the whole
// process of a thread that has no memory left, and this process serves nothing else.
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import type { Reply, Work } from './work.js';

const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };

// A service manager signals every process of the service. This one ends with the process that has started it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
process.once('disconnect', end);

const thread = new Worker(new URL('thread.js', import.meta.url), { resourceLimits: LIMITS, env: {} });
thread
  .on('message', (reply: Reply | string) => process.send?.(reply))
  .once('error', end)
  .once('exit', end);
process.on('message', (work: Work) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  thread.postMessage(work);
});

/** The process is killed, because waiting for the thread could take forever. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
