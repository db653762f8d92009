// Processor time and memory of processes, from /proc: what else the machine does is not in it. Linux only.
import { readFileSync, readdirSync } from 'node:fs';

/** The parts that processor time is split into. For the twin, `api` is its gateway. */
export const PARTS = ['worker', 'api', 'temporal', 'postgres', 'client'] as const;
export type Part = (typeof PARTS)[number];
/** Seconds of user and system time. */
export type CpuSeconds = Record<Part, number>;

const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

export function cpuOf(pids: Record<Exclude<Part, 'client'>, number>): CpuSeconds {
  const { user, system } = process.cpuUsage();
  return {
    worker: ownSeconds(pids.worker),
    api: ownSeconds(pids.api),
    temporal: ownSeconds(pids.temporal),
    postgres: familySeconds(pids.postgres),
    client: (user + system) / 1e6,
  };
}

/** What the machine's processors had nothing to do for, since it was started; of all that there was. */
export interface Idleness {
  idleTicks: number;
  allTicks: number;
}

export function idleness(): Idleness {
  const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  // user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in the first two already.
  const ticks = total.trim().split(/ +/).slice(1, 9).map(Number);
  return { idleTicks: ticks[3]! + ticks[4]!, allTicks: ticks.reduce((sum, part) => sum + part, 0) };
}

export function idleShareBetween(before: Idleness, after: Idleness): number {
  return (after.idleTicks - before.idleTicks) / Math.max(1, after.allTicks - before.allTicks);
}

export function cpuBetween(before: CpuSeconds, after: CpuSeconds): CpuSeconds {
  return Object.fromEntries(PARTS.map((part) => [part, after[part] - before[part]])) as CpuSeconds;
}

/** Resident memory in MiB. */
export function residentMib(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return (pages * PAGE_BYTES) / 2 ** 20;
}

/** A part that has no process of its own is 0. */
function ownSeconds(pid: number): number {
  if (pid === 0) return 0;
  const { utime, stime } = readStat(pid);
  return (utime + stime) / TICKS_PER_SECOND;
}

/** PostgreSQL has a process for each connection; those that have ended count in their parent's `cutime`. */
function familySeconds(parent: number): number {
  const { utime, stime, cutime, cstime } = readStat(parent);
  let ticks = utime + stime + cutime + cstime;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const child = readStat(Number(name));
      if (child.ppid === parent) ticks += child.utime + child.stime;
    } catch {
      // It has ended between the listing and the reading.
    }
  }
  return ticks / TICKS_PER_SECOND;
}

interface Stat {
  ppid: number;
  utime: number;
  stime: number;
  cutime: number;
  cstime: number;
}

function readStat(pid: number): Stat {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name is in parentheses and may itself hold spaces; the state comes first after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [ppid, utime, stime, cutime, cstime] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  return { ppid: ppid!, utime: utime!, stime: stime!, cutime: cutime!, cstime: cstime! };
}
