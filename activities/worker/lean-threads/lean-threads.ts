// Starts the threads for workflow code without two guards of the SDK whose cost exceeds their benefit here: a stack
// trace for each promise, and a watchdog thread for each call (docs/adr/0015-lean-workflow-threads.md).
import threads, { type WorkerOptions } from 'node:worker_threads';

const PRELOAD = new URL('./preload.js', import.meta.url);

/**
 * `create` must create a Temporal worker, whose threads then load the preload before the SDK. The patch works because
 * the default import of `node:worker_threads` is the object from which the SDK, a CommonJS package, reads `Worker`.
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
