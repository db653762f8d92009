// A pid may be reused; together with its start time it identifies one process permanently.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** Returns undefined if no such process runs. A zombie counts as running until its last thread has ended. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  return identifyProcess(pid)?.startedAt === startedAt;
}

/** Returns program and arguments as one text; empty if no such process runs. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

/** Returns the processes whose working directory is `directory`. Linux only; empty elsewhere. */
export function processesIn(directory: string): ProcessIdentity[] {
  if (process.platform !== 'linux') return [];
  const target = realpathSync(directory);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && workingDirectory(name) === target);
  return pids.flatMap((pid) => identifyProcess(Number(pid)) ?? []);
}

function workingDirectory(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined; // The process has ended meanwhile, or belongs to another user.
  }
}

/** Sends `signal`, and SIGKILL after `graceMs`. Resolves when the process has ended. */
export async function terminate(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  sendSignal(identity, signal);
  while (isAlive(identity)) {
    if (Date.now() > deadline) sendSignal(identity, 'SIGKILL');
    await pause(20);
  }
}

function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function startTimeFromProc(pid: number): string | undefined {
  try {
    const fields = statFields(`/proc/${pid}`);
    if (isDead(fields) && !hasLiveThread(pid)) return undefined;
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${bootId}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

/**
 * A killed process is a zombie as soon as its first thread has ended, but its ports and files stay
 * open until all have.
 */
function hasLiveThread(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).some((thread) => {
    try {
      return !isDead(statFields(`/proc/${pid}/task/${thread}`));
    } catch {
      return false;
    }
  });
}

/**
 * Returns the fields from the state on. The command name before it is in parentheses, and may contain
 * spaces and parentheses.
 */
function statFields(directory: string): string[] {
  const stat = readFileSync(`${directory}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function isDead([state]: string[]): boolean {
  return state === 'Z' || state === 'X';
}

function startTimeFromPs(pid: number): string | undefined {
  try {
    const [state, ...startedAt] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : startedAt.join(' ');
  } catch {
    return undefined;
  }
}
