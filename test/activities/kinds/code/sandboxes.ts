// Sandboxes of the build for tests: their processes are plain JavaScript, as in production.
import path from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import type { Program, Reply } from '../../../../activities/kinds/code/child/messages.js';
import { toMarkedInputs } from '../../../../activities/kinds/code/code-values.js';
import type { Sandbox } from '../../../../activities/kinds/code/sandbox.js';
import { isAlive } from '../../../../harness/processes/of-stack.js';
import { DIST } from '../../../support/worker-process.js';

export const ENTRY = path.join(DIST, 'activities/kinds/code/child/main.js');
export const NEVER = new AbortController().signal;

export function program(code: string, inputs: unknown = {}, timeoutMs = 20_000): Program {
  return { code, ...toMarkedInputs(inputs), timeoutMs };
}

let projects = 1_000_000;
/** A project that no other test runs code of, so that its program gets a fresh process. */
export function nextProject(): number {
  return (projects += 1);
}

export function run(sandbox: Sandbox, code: string, inputs: unknown = {}, timeoutMs?: number): Promise<Reply> {
  return sandbox.run(program(code, inputs, timeoutMs), { projectId: 1, signal: NEVER });
}

/** The pids of the live processes that run the sandbox's file as children of `parent`. Linux only; elsewhere none. */
export function sandboxProcessesOf(parent: number): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent && read(`/proc/${pid}/cmdline`).includes('kinds/code/child/main.js'));
}

/** Whether the process runs: one that has ended and waits for its parent to ask does not. */
export function isRunning(pid: number): boolean {
  return process.platform === 'linux' ? parentOf(pid) !== undefined : isAlive(pid);
}

function parentOf(pid: number): number | undefined {
  // The name of the command may hold spaces and brackets.
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ');
  return fields?.[1] === undefined || fields[0] === 'Z' ? undefined : Number(fields[1]);
}

/** The memory of a process that is in the machine's, in bytes. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

export function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // It is gone meanwhile.
  }
}
