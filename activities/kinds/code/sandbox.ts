// Runs programs of users in separate processes. Programs of one project start in order of arrival, and projects take
// turns (processes/process-slots.ts).
import { setImmediate as nextTick } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Program, Reply } from './child/messages.js';
import { noFiles, startSandboxProcess, type SandboxProcess, type ServeFiles } from './sandbox-process.js';
import { ProcessSlots } from '../../../processes/process-slots.js';

/** Includes the processes that wait for a program. */
const PROCESSES = 8;
const PROCESSES_OF_A_PROJECT = 4;
/**
 * The number of idle processes that wait for the next program of their project, and for
 * how long. Each takes about 50 MB.
 */
const IDLE_PROCESSES = 4;
const IDLE_MS = 60_000;

interface Run {
  projectId: number;
  signal: AbortSignal;
  /** Defaults to `noFiles`, which refuses to read and to save. */
  serve?: ServeFiles;
}

export interface Sandbox {
  /**
   * Runs a program and returns how it ended. The wait for a process does not count as time of the program. Rejects with
   * a `SandboxProcessError`, with the reason of the signal, with another error if the sandbox was closed, and with the
   * rejections of `serve`. A program that was running is then stopped.
   */
  run(program: Program, run: Run): Promise<Reply>;
  close(): void;
}

interface Idle {
  process: SandboxProcess;
  projectId: number;
  timer: NodeJS.Timeout;
}

export function createSandbox(entry = fileURLToPath(new URL('./child/main.js', import.meta.url))): Sandbox {
  const slots = new ProcessSlots({ total: PROCESSES, perOwner: PROCESSES_OF_A_PROJECT });
  /** The most recently used process is the last one. */
  const idle: Idle[] = [];
  const closing = new AbortController();
  let lastStart: Promise<void> = Promise.resolve();

  /** A process serves one project only, so a program that breaks out of QuickJS meets no program of another project. */
  function takeIdle(projectId: number): SandboxProcess | undefined {
    const index = idle.findLastIndex((each) => each.projectId === projectId && each.process.isAlive);
    if (index < 0) return undefined;
    const [{ process, timer }] = idle.splice(index, 1) as [Idle];
    clearTimeout(timer);
    return process;
  }

  /** A start blocks the event loop for some milliseconds, so each start waits for its own iteration of the loop. */
  async function start(signal: AbortSignal): Promise<SandboxProcess> {
    lastStart = lastStart.then(() => nextTick());
    await lastStart;
    while (slots.held + idle.length > PROCESSES) drop(idle[0]!);
    return await startSandboxProcess(entry, signal);
  }

  function store(process: SandboxProcess, projectId: number): void {
    const added: Idle = { process, projectId, timer: setTimeout(() => drop(added), IDLE_MS).unref() };
    idle.push(added);
    for (const each of idle.filter((other) => !other.process.isAlive)) drop(each);
    if (idle.length > IDLE_PROCESSES) drop(idle[0]!);
  }

  function drop(one: Idle): void {
    clearTimeout(one.timer);
    one.process.kill();
    const index = idle.indexOf(one);
    if (index >= 0) idle.splice(index, 1);
  }

  return {
    async run(program, { projectId, signal, serve = noFiles }) {
      const stop = AbortSignal.any([signal, closing.signal]);
      await slots.take(projectId, stop);
      try {
        const process = takeIdle(projectId) ?? (await start(stop));
        const reply = await process.run(program, stop, serve);
        if (process.isAlive) store(process, projectId);
        return reply;
      } finally {
        slots.release(projectId);
      }
    },
    close() {
      closing.abort(new Error('The sandbox was closed.'));
      for (const one of idle.slice()) drop(one);
    },
  };
}
