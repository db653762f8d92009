import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

interface Priority {
  /** A nice value above that of the process that asks, which is scheduled first. */
  niceness: number;
  /**
   * True if the process was started `detached`. Linux shares the processors among sessions before it looks at priorities,
   * unless a control group does: so its session gets the priority, too.
   */
  hasOwnSession?: boolean;
}

/** Processes and threads that the process starts later inherit its priority. */
export function lowerPriority({ pid }: ChildProcess, { niceness, hasOwnSession = false }: Priority): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
    if (hasOwnSession) writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // The `exit` handler reports a process that has ended, and not every system has sessions of this kind.
  }
}
