import { readFileSync } from 'node:fs';

/** The most that a process has ever had in memory, in MiB. Linux only; elsewhere 0. */
export function peakRssMiB(pid: number | undefined): number {
  if (process.platform !== 'linux') return 0;
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
