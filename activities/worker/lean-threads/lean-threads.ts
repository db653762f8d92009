// Starts the threads for workflow code without two guards of the SDK that cost much more than they give here
// (docs/adr/0015-lean-workflow-threads.md): a stack trace for each promise, and a watchdog thread for each call.
import threads, { type WorkerOptions } from 'node:worker_threads';

const PRELOAD = new URL('./preload.js', import.meta.url);

/**
 * `create` must create a Temporal worker. Its threads load the preload before they load the SDK. The default import of
 * `node:worker_threads` is the object that the SDK, which is CommonJS, takes `Worker` from.
 */
export async function withLeanThreads<T>(create: () => Promise<T>): Promise<T> {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file: string | URL, options?: WorkerOptions) {
      super(file, { ...options, execArgv: [...process.execArgv, '--import', PRELOAD.href] });
    }
  };
  try {
    return await create();
  } finally {
    threads.Worker = Worker;
  }
}
