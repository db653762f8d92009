// Work whose time nobody knows before, because users have written the pattern or the schema: it is done in threads, each of
// which is ended when it is late or takes too much memory. Each has a process of its own (host.ts), so that the process that
// asks goes on: Node.js may end a whole process because one of its threads has no memory left.
import { fork, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { startDeadline } from '../outgoing/pausable-deadline.js';
import { Turns } from './turns.js';
import type { Reply, Work } from './work.js';

/** The number of threads of a process. An owner has one of them at a time, so that there is one for the others. */
const THREADS = 2;
const THREADS_OF_AN_OWNER = 1;
/** A thread that nobody needs is ended; it takes about 60 MB with its process. */
const IDLE_MS = 60_000;
/** A higher nice value than that of the process that asks, which is scheduled first. */
const PRIORITY = 10;

export interface WorkOptions {
  /** Whose work it is: a project of the worker, a user of the API. */
  owner: number;
  signal: AbortSignal;
  /** From the moment on in which a thread does the work. */
  limitMs: number;
  /** Works of the owner that may wait; beyond that this one is not done. Default: no limit. */
  maxWaiting?: number;
}

/** The owner has too much work that waits. Nothing was done. */
export class ThreadsBusyError extends Error {
  override readonly name = 'ThreadsBusyError';
}

export interface Threads {
  /**
   * Returns the answer; undefined when the work took too long or too much memory. Rejects with `ThreadsBusyError`, and with
   * the reason of the signal once that is aborted.
   */
  run(work: Work, options: WorkOptions): Promise<Reply | undefined>;
  /** Ends all threads. */
  close(): void;
}

interface Thread {
  worker: ChildProcess;
  /** Whether it has done anything yet: what is lost in another one may be due to the works before. */
  isFresh: boolean;
  idle: NodeJS.Timeout | undefined;
}

/** `entry`: the file of their processes. */
export function createThreads(entry = new URL('host.js', import.meta.url)): Threads {
  const turns = new Turns({ total: THREADS, perProject: THREADS_OF_AN_OWNER });
  const idle: Thread[] = [];
  const closing = new AbortController();

  async function start(signal: AbortSignal): Promise<Thread | undefined> {
    const worker = fork(entry, {
      serialization: 'advanced',
      env: {},
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    lowerPriority(worker);
    const thread: Thread = { worker, isFresh: true, idle: undefined };
    // One that ends by itself while it waits for work is not used again.
    worker.on('error', () => drop(thread)).once('exit', () => drop(thread));
    // It says that it is ready. Its start is not limited: a busy machine is not the user's mistake.
    try {
      return (await nextMessage(worker, signal)) === undefined ? undefined : thread;
    } catch (error) {
      drop(thread);
      throw error;
    }
  }

  function take(): Thread | undefined {
    const thread = idle.pop();
    clearTimeout(thread?.idle);
    thread?.worker.ref();
    thread?.worker.channel?.ref();
    return thread;
  }

  function keep(thread: Thread): void {
    thread.isFresh = false;
    thread.idle = setTimeout(() => drop(thread), IDLE_MS).unref();
    thread.worker.unref();
    thread.worker.channel?.unref();
    idle.push(thread);
  }

  function drop(thread: Thread): void {
    clearTimeout(thread.idle);
    const at = idle.indexOf(thread);
    if (at >= 0) idle.splice(at, 1);
    thread.worker.kill('SIGKILL');
  }

  async function attempt(work: Work, { signal, limitMs }: WorkOptions): Promise<Reply | 'again' | undefined> {
    const thread = take() ?? (await start(signal));
    if (thread === undefined) return undefined;
    const { isFresh } = thread;
    const limit = startDeadline(limitMs, signal);
    try {
      thread.worker.send(work);
      const reply = (await nextMessage(thread.worker, limit.signal)) as Reply | undefined;
      if (reply === undefined) return isFresh ? undefined : 'again';
      keep(thread);
      return reply;
    } catch (error) {
      drop(thread);
      if (!signal.aborted && limit.signal.aborted) return undefined;
      throw error;
    } finally {
      limit.clear();
    }
  }

  return {
    async run(work, options) {
      const { owner, maxWaiting = Infinity } = options;
      if (turns.waitingOf(owner) >= maxWaiting) throw new ThreadsBusyError('Too much work waits.');
      const signal = AbortSignal.any([options.signal, closing.signal]);
      await turns.take(owner, signal);
      try {
        let reply = await attempt(work, { ...options, signal });
        while (reply === 'again') reply = await attempt(work, { ...options, signal });
        return reply;
      } finally {
        turns.end(owner);
      }
    },
    close() {
      closing.abort(new Error('The threads were closed.'));
      for (const thread of idle.slice()) drop(thread);
    },
  };
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY);
  } catch {
    // It has ended already, which its `exit` reports.
  }
}

/** Undefined when the thread ends first, most likely for want of memory. Rejects with the reason of the signal. */
async function nextMessage(worker: ChildProcess, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const done = new AbortController();
  try {
    return await new Promise((resolve, reject) => {
      const lost = (): void => resolve(undefined);
      worker.once('message', resolve).once('error', lost).once('exit', lost);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: done.signal });
      done.signal.addEventListener('abort', () => {
        worker.off('message', resolve).off('error', lost).off('exit', lost);
      });
    });
  } finally {
    done.abort();
  }
}
