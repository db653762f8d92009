// Memory and processor time of single processes, from /proc. On other systems than Linux they are 0.
import { childrenOf, readStat, readText } from './family.js';

const TICKS_PER_SECOND = 100;

/** Returns the resident memory, or 0 if the process no longer exists. */
export function rssMiB(pid: number | undefined): number {
  return memoryMiB(pid, 'VmRSS');
}

/** Returns the peak of the resident memory, or 0 if the process no longer exists. */
export function peakRssMiB(pid: number | undefined): number {
  return memoryMiB(pid, 'VmHWM');
}

/**
 * `ended` adds the children that have ended. `family` also adds live children, because PostgreSQL has a process for
 * each connection. Throws an error if the process no longer exists.
 */
export function cpuSeconds(pid: number, of: 'itself' | 'ended' | 'family' = 'itself'): number {
  if (process.platform !== 'linux') return 0;
  const stat = readStat(pid);
  if (stat === undefined) throw new Error(`process ${pid} is gone`);
  const ended = of === 'itself' ? 0 : stat.endedTicks;
  const living = of === 'family' ? childrenOf(pid).reduce((sum, { ownTicks }) => sum + ownTicks, 0) : 0;
  return (stat.ownTicks + ended + living) / TICKS_PER_SECOND;
}

function memoryMiB(pid: number | undefined, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readText(`/proc/${pid}/status`))?.[1];
  return Number(kibibytes ?? 0) / 1024;
}
