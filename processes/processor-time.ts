import { readdirSync, readFileSync } from 'node:fs';

/** A hundredth of a second, everywhere that Linux runs. */
const TICK_MS = 10;

export interface ProcessorTime {
  /** Milliseconds that the process has used so far. */
  usedMs: number;
  /** All its threads wait for something other than a processor. */
  isSleeping: boolean;
}

/** Undefined where there is no /proc, or no such process. */
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

/** Returns what follows the program's name, which may hold spaces: the state, and later utime and stime (proc(5)). */
function fieldsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
