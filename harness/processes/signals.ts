// Signals to processes and all that they have started.
import { readFileSync, readdirSync } from 'node:fs';
import { readStackFile } from '../../cli/embedded/stack-file.js';
import type { StartedStack } from '../stack/stack.js';

/** What a fault that broke off may have left stopped. */
export function allowToRun({ supervisor, dataDir }: StartedStack): void {
  supervisor.kill('SIGCONT');
  const pids = Object.values(readStackFile(dataDir)?.pids ?? {});
  for (const pid of pids) signalAll(withDescendants(pid), 'SIGCONT');
}

export function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A connection's process may have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The process and all that it has started, parents first. Linux only; elsewhere the process alone. */
export function withDescendants(pid: number): number[] {
  if (process.platform !== 'linux') return [pid];
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(name) }));
  const found = [pid];
  for (const parent of found) found.push(...all.filter((each) => each.parent === parent).map((each) => each.pid));
  return found;
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name is in parentheses and may itself hold spaces and parentheses.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
