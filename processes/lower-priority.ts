import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';

/** A nice value above that of the process that asks, which is scheduled first. */
const PRIORITY = 10;

/** Processes and threads that the process starts later inherit its priority. */
export function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY);
  } catch {
    // The process has ended already, which its `exit` reports.
  }
}
