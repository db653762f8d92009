import { readFileSync } from 'node:fs';

/** A hundredth of a second, everywhere that Linux runs. */
const TICK_MS = 10;

export interface ProcessorTime {
  /** Milliseconds that the process has used so far. */
  usedMs: number;
  /** It waits for something other than a processor. */
  isSleeping: boolean;
}

/** Undefined where there is no /proc, or no such process. */
export function processorTimeOf(pid: number): ProcessorTime | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the program's name, which may hold spaces: the state, and later utime and stime (proc(5)).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { usedMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, isSleeping: fields[0] === 'S' };
  } catch {
    return undefined;
  }
}
