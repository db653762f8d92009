// Runs work of unknown duration in separate processes: users' patterns and schemas, documents, OpenAPI documents, and
// files of n8n. A process that takes too long or too much memory is killed.
import { fork, type ChildProcess } from 'node:child_process';
import { startDeadline } from '../outgoing/pausable-deadline.js';
import { lowerPriority } from './lower-priority.js';
import { ProcessSlots } from './process-slots.js';
import type { Reply, Work } from './work.js';

/**
 * The limit on the processes of one `Processes` object. The API has three such objects, and each worker has two. An
 * owner uses one process at a time, so that one is left for others.
 */
const PROCESSES = 2;
const PROCESSES_OF_AN_OWNER = 1;
/** An idle process is killed after this time, because it takes about 60 MB. */
const IDLE_MS = 60_000;
const NICENESS = 10;

interface MemoryLimits {
  /** The limit on the JavaScript heap of the process. */
  heapMb: number;
  /** The limit on all memory of the process while it works. */
  residentMb: number;
}

/** The limits for documents of files. The bytes of a document are outside the heap. */
export const DOCUMENT_LIMITS: MemoryLimits = { heapMb: 256, residentMb: 512 };

export const OPENAPI_LIMITS: MemoryLimits = { heapMb: 240, residentMb: 300 };

export interface WorkOptions {
  /** The project of the work in a worker, or the user in the API. */
  owner: number;
  signal: AbortSignal;
  /** The limit on the time of the work, counted from when a process receives the work. */
  limitMs: number;
  /** The limit on waiting tasks of the owner; further ones are refused. There is no limit by default. */
  maxWaiting?: number;
  /**
   * Called with the waits for a process and for its start, so that a caller with a time limit of its own can leave them
   * out. The returned promise must settle like the given one.
   */
  outside?: (<T>(wait: Promise<T>) => Promise<T>) | undefined;
}

/**
 * Thrown if the work was not started, because too many tasks of the owner wait or because no process could be started.
 * The work is not at fault and may succeed later.
 */
export class ProcessesBusyError extends Error {
  override readonly name = 'ProcessesBusyError';
}

export interface Processes {
  /**
   * Returns the answer, or undefined if the work took too long or too much memory, or if its process ended by itself.
   * Rejects with `ProcessesBusyError`, with the reason of the signal if that is aborted, or with another error after
   * `close`.
   */
  run(work: Work, options: WorkOptions): Promise<Reply | undefined>;
  close(): void;
}

const asItIs = <T>(wait: Promise<T>): Promise<T> => wait;

interface WorkProcess {
  child: ChildProcess;
  /**
   * True until the process has completed some work. If a used process ends during work, earlier work may be the cause,
   * so the work is repeated.
   */
  isFresh: boolean;
  idle: NodeJS.Timeout | undefined;
}

/** `entry` is the file that the processes execute. Without `limits`, the defaults of host.ts apply. */
export function createProcesses(entry = new URL('host.js', import.meta.url), limits?: MemoryLimits): Processes {
  const slots = new ProcessSlots({ total: PROCESSES, perOwner: PROCESSES_OF_AN_OWNER });
  const idle: WorkProcess[] = [];
  const closing = new AbortController();

  async function start(signal: AbortSignal): Promise<WorkProcess | undefined> {
    const child = fork(entry, limits === undefined ? [] : [String(limits.heapMb), String(limits.residentMb)], {
      serialization: 'advanced',
      env: {},
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    lowerPriority(child, { niceness: NICENESS });
    const started: WorkProcess = { child, isFresh: true, idle: undefined };
    // A process that ends by itself while it waits for work is not used again.
    child.on('error', () => drop(started)).once('exit', () => drop(started));
    // Waits for the ready message. The start has no time limit, because a slow start is not the fault of the user's
    // work.
    try {
      return (await nextMessage(child, signal)) === undefined ? undefined : started;
    } catch (error) {
      drop(started);
      throw error;
    }
  }

  function reuseIdle(): WorkProcess | undefined {
    const started = idle.pop();
    clearTimeout(started?.idle);
    started?.child.ref();
    started?.child.channel?.ref();
    return started;
  }

  function returnToIdle(started: WorkProcess): void {
    started.isFresh = false;
    started.idle = setTimeout(() => drop(started), IDLE_MS).unref();
    started.child.unref();
    started.child.channel?.unref();
    idle.push(started);
  }

  function drop(started: WorkProcess): void {
    clearTimeout(started.idle);
    const at = idle.indexOf(started);
    if (at >= 0) idle.splice(at, 1);
    started.child.kill('SIGKILL');
  }

  async function attempt(
    work: Work,
    { signal, limitMs, outside = asItIs }: WorkOptions,
  ): Promise<Reply | 'again' | undefined> {
    const started = reuseIdle() ?? (await outside(start(signal)));
    if (started === undefined) throw new ProcessesBusyError('No process could be started.');
    const { isFresh } = started;
    const limit = startDeadline(limitMs, signal);
    try {
      started.child.send(work);
      const reply = (await nextMessage(started.child, limit.signal)) as Reply | undefined;
      if (reply === undefined) return isFresh ? undefined : 'again';
      returnToIdle(started);
      return reply;
    } catch (error) {
      drop(started);
      if (!signal.aborted && limit.signal.aborted) return undefined;
      throw error;
    } finally {
      limit.clear();
    }
  }

  return {
    async run(work, options) {
      const { owner, maxWaiting = Infinity, outside = asItIs } = options;
      if (slots.waitingOf(owner) >= maxWaiting) throw new ProcessesBusyError('Too much work waits.');
      const signal = AbortSignal.any([options.signal, closing.signal]);
      await outside(slots.take(owner, signal));
      try {
        let reply = await attempt(work, { ...options, signal });
        while (reply === 'again') reply = await attempt(work, { ...options, signal });
        return reply;
      } finally {
        slots.release(owner);
      }
    },
    close() {
      closing.abort(new Error('The processes were closed.'));
      for (const started of idle.slice()) drop(started);
    },
  };
}

/**
 * Returns the next message, or undefined if the process ends first, most likely because it ran out of memory. Rejects
 * with the reason of the signal if that is aborted.
 */
async function nextMessage(child: ChildProcess, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const done = new AbortController();
  try {
    return await new Promise((resolve, reject) => {
      const lost = (): void => resolve(undefined);
      child.once('message', resolve).once('error', lost).once('exit', lost);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: done.signal });
      done.signal.addEventListener('abort', () => {
        child.off('message', resolve).off('error', lost).off('exit', lost);
      });
    });
  } finally {
    done.abort();
  }
}
