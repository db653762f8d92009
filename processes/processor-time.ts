import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports processor time in hundredths of a second on all its platforms. */
const TICK_MS = 10;

export interface ProcessorTime {
  /** The processor time that the process has used so far. */
  usedMs: number;
  /** True if all its threads sleep, so that none uses or waits for a processor or a disk. */
  isSleeping: boolean;
}

/** Returns undefined if there is no /proc, or no such process. */
export function processorTimeOf(pid: number): ProcessorTime | undefined {
  try {
    const fields = fieldsOf(`/proc/${pid}/stat`);
    const threads = readdirSync(`/proc/${pid}/task`).map((id) => fieldsOf(`/proc/${pid}/task/${id}/stat`)[0]);
    return {
      usedMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      isSleeping: threads.every((state) => state === 'S'),
    };
  } catch {
    return undefined;
  }
}

/**
 * Returns the fields after the program's name, which may contain spaces. They include the state, utime and stime
 * (proc(5)).
 */
function fieldsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
