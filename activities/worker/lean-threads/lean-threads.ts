// Starts the threads for workflow code without two guards of the SDK that cost much more than they give here
// (docs/adr/0015-lean-workflow-threads.md): a stack trace for each promise, and a watchdog thread for each call.
import { createRequire } from 'node:module';
import type * as workerThreads from 'node:worker_threads';

const PRELOAD = new URL('./preload.js', import.meta.url);
/** The module as the SDK sees it, which is CommonJS. */
const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };

/** `create` must create a Temporal worker. Its threads load the preload before they load the SDK. */
export async function withLeanThreads<T>(create: () => Promise<T>): Promise<T> {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file: string | URL, options?: workerThreads.WorkerOptions) {
      super(file, { ...options, execArgv: [...process.execArgv, '--import', PRELOAD.href] });
    }
  };
  try {
    return await create();
  } finally {
    threads.Worker = Worker;
  }
}
