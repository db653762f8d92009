// Sandboxes of the build for tests: their processes are plain JavaScript, as in production.
import path from 'node:path';
import type { Program, Reply } from '../../../../activities/kinds/code/child/messages.js';
import { toMarkedInputs } from '../../../../activities/kinds/code/code-values.js';
import type { Sandbox } from '../../../../activities/kinds/code/sandbox.js';
import { childrenOf, readStat, readText } from '../../../../harness/processes/family.js';
import { isAlive } from '../../../../harness/processes/signals.js';
import { OWN_BUILD } from '../../../../harness/stack/supervisor.js';

export const ENTRY = path.join(OWN_BUILD, 'activities/kinds/code/child/main.js');
export const NEVER = new AbortController().signal;

export function program(code: string, inputs: unknown = {}, timeoutMs = 20_000): Program {
  return { code, ...toMarkedInputs(inputs), timeoutMs };
}

let projects = 1_000_000;
/** Returns a project whose code no other test runs, so that its program gets a fresh process. */
export function nextProject(): number {
  return (projects += 1);
}

export function run(sandbox: Sandbox, code: string, inputs: unknown = {}, timeoutMs?: number): Promise<Reply> {
  return sandbox.run(program(code, inputs, timeoutMs), { projectId: 1, signal: NEVER });
}

/** The pids of the live processes that run the sandbox's file as children of `parent`. Linux only; elsewhere none. */
export function sandboxProcessesOf(parent: number): number[] {
  return childrenOf(parent)
    .filter(({ pid, state }) => state !== 'Z' && readText(`/proc/${pid}/cmdline`).includes('kinds/code/child/main.js'))
    .map(({ pid }) => pid);
}

/** Returns false for a zombie: a process that has ended and that its parent has not reaped. */
export function isRunning(pid: number): boolean {
  if (process.platform !== 'linux') return isAlive(pid);
  return ![undefined, 'Z'].includes(readStat(pid)?.state);
}
