// One of the processes of processes.ts. The work is done in a thread, whose memory is limited: Node.js may end the whole
// process of a thread that has no memory left, and this process serves nothing else.
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import type { Reply, Work } from './work.js';

/** As `createProcesses` has been told. The limit on the memory of the whole process is 0 where there is none. */
const [heapMb = 128, residentMb = 0] = process.argv.slice(2).map(Number);
const LIMITS = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 };
const LOOK_EVERY_MS = 20;
let looking: NodeJS.Timeout | undefined;

// A service manager signals every process of the service. This one ends with the process that has started it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
process.once('disconnect', end);

const thread = new Worker(new URL('thread.js', import.meta.url), { resourceLimits: LIMITS, env: {} });
thread
  .on('message', (reply: Reply | string) => {
    clearInterval(looking);
    process.send?.(reply);
  })
  .once('error', end)
  .once('exit', end);
process.on('message', (work: Work) => {
  // The heap has its own limit, but bytes are not in it.
  if (residentMb > 0) looking = setInterval(endWhenFull, LOOK_EVERY_MS);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  thread.postMessage(work);
});

function endWhenFull(): void {
  if (process.memoryUsage.rss() > residentMb * 1024 * 1024) end();
}

/** The process is killed, because waiting for the thread could take forever. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
