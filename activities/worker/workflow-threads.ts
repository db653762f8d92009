// Workflow code without two guards of the SDK that cost more than what they guard (ADR 13): a stack trace for every
// promise, and a thread of its own, started and ended, to watch every call into workflow code.
import { createRequire } from 'node:module';
import type * as workerThreads from 'node:worker_threads';

const PRELOAD = new URL('./workflow-thread-preload.js', import.meta.url);
/** What the SDK, which is CommonJS, sees. */
const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };

/** `create` creates a worker, and with it the threads for its workflow code. */
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
