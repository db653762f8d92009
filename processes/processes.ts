// Patterns and schemas that users have written, and documents that they read, take a time that nobody knows before. They are
// judged and parsed in processes of their own, each of which is ended when it is late or takes too much memory.
import { fork, type ChildProcess } from 'node:child_process';
import { startDeadline } from '../outgoing/pausable-deadline.js';
import { lowerPriority } from './lower-priority.js';
import { Turns } from './turns.js';
import type { Reply, Work } from './work.js';

/** The API and each worker have this many. An owner has one of them at a time, so that there is one for the others. */
const PROCESSES = 2;
const PROCESSES_OF_AN_OWNER = 1;
/** A process that nobody needs is ended, because it takes about 60 MB. */
const IDLE_MS = 60_000;
const NICENESS = 10;

interface MemoryLimits {
  /** For the objects of a work. */
  heapMb: number;
  /** For all that a process holds while it works. */
  residentMb: number;
}

/** For parsers of documents. Their bytes are not in the heap. */
export const DOCUMENT_LIMITS: MemoryLimits = { heapMb: 256, residentMb: 512 };

interface WorkOptions {
  /** The project of the worker, or the user of the API, whose work it is. */
  owner: number;
  signal: AbortSignal;
  /** The time begins when a process does the work. */
  limitMs: number;
  /** The work is refused if as many works of the owner wait. There is no limit by default. */
  maxWaiting?: number;
}

/** The owner has too much work that waits. Nothing was done. */
export class ProcessesBusyError extends Error {
  override readonly name = 'ProcessesBusyError';
}

export interface Processes {
  /**
   * Returns the answer, which is undefined if the work took too long or too much memory. Rejects with `ProcessesBusyError`,
   * and with the reason of the signal once that is aborted.
   */
  run(work: Work, options: WorkOptions): Promise<Reply | undefined>;
  /** Ends all processes. */
  close(): void;
}

interface WorkProcess {
  child: ChildProcess;
  /** True until it has done some work. What is lost in a process that is not fresh may be due to the works before. */
  isFresh: boolean;
  idle: NodeJS.Timeout | undefined;
}

/** `entry` is the file that the processes execute. Without limits, its own ones hold. */
export function createProcesses(entry = new URL('host.js', import.meta.url), limits?: MemoryLimits): Processes {
  const turns = new Turns({ total: PROCESSES, perProject: PROCESSES_OF_AN_OWNER });
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
    // It says that it is ready. Its start is not limited: a busy machine is not the user's mistake.
    try {
      return (await nextMessage(child, signal)) === undefined ? undefined : started;
    } catch (error) {
      drop(started);
      throw error;
    }
  }

  function take(): WorkProcess | undefined {
    const started = idle.pop();
    clearTimeout(started?.idle);
    started?.child.ref();
    started?.child.channel?.ref();
    return started;
  }

  function keep(started: WorkProcess): void {
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

  async function attempt(work: Work, { signal, limitMs }: WorkOptions): Promise<Reply | 'again' | undefined> {
    const started = take() ?? (await start(signal));
    if (started === undefined) return undefined;
    const { isFresh } = started;
    const limit = startDeadline(limitMs, signal);
    try {
      started.child.send(work);
      const reply = (await nextMessage(started.child, limit.signal)) as Reply | undefined;
      if (reply === undefined) return isFresh ? undefined : 'again';
      keep(started);
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
      const { owner, maxWaiting = Infinity } = options;
      if (turns.waitingOf(owner) >= maxWaiting) throw new ProcessesBusyError('Too much work waits.');
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
      closing.abort(new Error('The processes were closed.'));
      for (const started of idle.slice()) drop(started);
    },
  };
}

/**
 * Returns the next message, which is undefined if the process ends first, most likely for want of memory. Rejects with the
 * reason of the signal.
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
