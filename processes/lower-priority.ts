import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

interface Priority {
  /** A nice value above that of the calling process, so that the caller is scheduled first. */
  niceness: number;
  /**
   * True if the process was started `detached`. Linux distributes processor time among sessions before it compares
   * priorities (unless control groups are used), so the session also gets the priority.
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
    // Ignored, because the `exit` handler reports an ended process, and not every system has autogroups.
  }
}
