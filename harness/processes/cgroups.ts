// Limits memory and processor time by control groups of Linux, version 1 or 2, if this process may create them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface Group {
  /** A process joins the group by writing its id into this file. */
  procsFile: string;
  /** The number of processes of a memory group that the kernel has killed for lack of memory. */
  countKilled: () => number;
  remove: () => void;
}

interface Files {
  folder: string;
  limit: [name: string, value: string][];
  events: string;
}

const ROOT = '/sys/fs/cgroup';
const PERIOD_US = 100_000;
const PREFIX = 'workflow-automation-';

/** Returns undefined if this process cannot create the group. */
export function makeMemoryGroup(name: string, limitMiB: number): Group | undefined {
  const bytes = String(limitMiB * 1024 * 1024);
  return makeGroup(name, [
    { folder: own('memory'), limit: [['memory.limit_in_bytes', bytes]], events: 'memory.oom_control' },
    {
      folder: own(''),
      limit: [
        ['memory.max', bytes],
        ['memory.swap.max', '0'],
      ],
      events: 'memory.events',
    },
  ]);
}

/** `share`: the share of one processor. Returns undefined if this process cannot create the group. */
export function makeProcessorGroup(name: string, share: number): Group | undefined {
  const quota = String(Math.round(share * PERIOD_US));
  return makeGroup(name, [
    { folder: own('cpu'), limit: [['cpu.cfs_quota_us', quota]], events: 'cpu.stat' },
    { folder: own(''), limit: [['cpu.max', `${quota} ${PERIOD_US}`]], events: 'cpu.stat' },
  ]);
}

function makeGroup(name: string, versions: Files[]): Group | undefined {
  for (const { folder, limit, events } of versions) {
    if (!existsSync(folder)) continue;
    removeAbandoned(folder);
    const group = path.join(folder, `${PREFIX}${process.pid}-${name}`);
    const remove = (): void => {
      try {
        rmdirSync(group);
      } catch {
        // A process of the group has not ended yet. The next suite removes the folder.
      }
    };
    try {
      mkdirSync(group);
      for (const [file, value] of limit) writeFileSync(path.join(group, file), value);
      const countKilled = (): number =>
        Number(/^oom_kill (\d+)/m.exec(readFileSync(path.join(group, events), 'utf8'))?.[1] ?? 0);
      return { procsFile: path.join(group, 'cgroup.procs'), countKilled, remove };
    } catch {
      remove();
    }
  }
  return undefined;
}

/**
 * Returns the folder of this process's own group. New groups are created inside this group, so its limits still apply.
 */
function own(controller: string): string {
  const line = readText('/proc/self/cgroup')
    .split('\n')
    .map((each) => each.split(':'))
    .find(([, controllers = '']) => controllers.split(',').includes(controller));
  if (line === undefined) return path.join(ROOT, 'none');
  const folder = path.join(ROOT, controller, line[2] ?? '');
  // In a container the group is often the root of the mounted hierarchy.
  return existsSync(folder) ? folder : path.join(ROOT, controller);
}

/** Removes the groups of suites that have ended. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(PREFIX) || existsSync(`/proc/${name.slice(PREFIX.length).split('-')[0]}`)) continue;
    try {
      rmdirSync(path.join(folder, name));
    } catch {
      // The group belongs to another user, or is still in use.
    }
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
