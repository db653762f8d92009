// The processor time of the parts of a stack, and the idle share of the machine. Linux only.
import { readFileSync } from 'node:fs';
import { cpuSeconds } from '../harness/processes/figures.js';

/**
 * The parts whose processor time is measured. For a twin, which is the same workflow written by hand (bench/twin/),
 * `api` is its gateway; the eager twin has its gateway in the worker's process.
 */
export const PARTS = ['worker', 'api', 'temporal', 'postgres', 'client'] as const;
export type Part = (typeof PARTS)[number];
/** Seconds of user and system time. */
export type CpuSeconds = Record<Part, number>;

export function cpuOf(pids: Record<Exclude<Part, 'client'>, number>): CpuSeconds {
  const { user, system } = process.cpuUsage();
  return {
    worker: ownSeconds(pids.worker),
    api: ownSeconds(pids.api),
    temporal: ownSeconds(pids.temporal),
    postgres: pids.postgres === 0 ? 0 : cpuSeconds(pids.postgres, 'family'),
    client: (user + system) / 1e6,
  };
}

/** The machine's idle time since it was started, and all its processor time, in clock ticks. */
export interface Idleness {
  idleTicks: number;
  allTicks: number;
}

export function idleness(): Idleness {
  const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  // user, nice, system, idle, iowait, irq, softirq, steal. The fields after them are included in the first two.
  const ticks = total.trim().split(/ +/).slice(1, 9).map(Number);
  return { idleTicks: ticks[3]! + ticks[4]!, allTicks: ticks.reduce((sum, part) => sum + part, 0) };
}

export function idleShareBetween(before: Idleness, after: Idleness): number {
  return (after.idleTicks - before.idleTicks) / Math.max(1, after.allTicks - before.allTicks);
}

export function cpuBetween(before: CpuSeconds, after: CpuSeconds): CpuSeconds {
  return ofEachPart((part) => after[part] - before[part]);
}

export function ofEachPart<T>(figure: (part: Part) => T): Record<Part, T> {
  return Object.fromEntries(PARTS.map((part) => [part, figure(part)])) as Record<Part, T>;
}

/** The pid 0 stands for a part that has no process of its own or an unknown one. */
function ownSeconds(pid: number): number {
  return pid === 0 ? 0 : cpuSeconds(pid);
}
