// The program of the processes that processes.ts starts. A thread does the work, because its memory can be limited. If
// a thread runs out of memory, Node.js may end the whole process, which does nothing else.
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import type { Reply, Work } from './work.js';

/**
 * The arguments that `createProcesses` passes. `residentMb` limits the memory of the whole process; 0 means no limit.
 */
const [heapMb = 128, residentMb = 0] = process.argv.slice(2).map(Number);
const LIMITS = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 };
const CHECK_EVERY_MS = 20;
let memoryCheck: NodeJS.Timeout | undefined;

// A service manager sends these signals to every process of the service. This process ends with its parent instead.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
process.once('disconnect', end);

const thread = new Worker(new URL('thread.js', import.meta.url), { resourceLimits: LIMITS, env: {} });
thread
  .on('message', (reply: Reply | string) => {
    clearInterval(memoryCheck);
    process.send?.(reply);
  })
  .once('error', end)
  .once('exit', end);
process.on('message', (work: Work) => {
  // The heap has its own limit, but buffers are outside the heap.
  if (residentMb > 0) memoryCheck = setInterval(endWhenFull, CHECK_EVERY_MS);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  thread.postMessage(work);
});

function endWhenFull(): void {
  if (process.memoryUsage.rss() > residentMb * 1024 * 1024) end();
}

/** Kills the process, because the thread may never end. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
