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

const FIRST_TO_BE_ENDED = '1000';

/**
 * Lets the caller be scheduled first, and lets the kernel end this process and not the caller when the memory of the
 * machine or of the container runs out. Processes and threads that the process starts later inherit both.
 */
export function lowerPriority({ pid }: ChildProcess, { niceness, hasOwnSession = false }: Priority): void {
  if (pid === undefined) return;
  tryTo(() => setPriority(pid, niceness));
  if (hasOwnSession) tryTo(() => writeFileSync(`/proc/${pid}/autogroup`, String(niceness)));
  tryTo(() => writeFileSync(`/proc/${pid}/oom_score_adj`, FIRST_TO_BE_ENDED));
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // Not every system has these files, and the `exit` handler reports a process that has ended.
  }
}
