// Holds processes to a share of a processor, by cgroups of either version. Needs Linux and root.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readText, withDescendants } from '../../harness/processes/family.js';
import { eventually } from '../../harness/timing/eventually.js';

const ROOT = '/sys/fs/cgroup';
const IS_V2 = existsSync(path.join(ROOT, 'cgroup.controllers'));
const ABOVE = IS_V2 ? ROOT : path.join(ROOT, 'cpu');
const PERIOD_US = 20_000;

export interface Share {
  /** Removes the limit. Processes in it go on without one. */
  end(): Promise<void>;
}

/** Returns what keeps this machine from limiting processes, as a sentence, or undefined. */
export function lackOfShares(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'cgroups need Linux and root';
  if (IS_V2 || existsSync(ABOVE)) return undefined;
  return `there are no cgroups for processors in ${ABOVE}`;
}

/** The process and its children together get at most `processors` of processor time a second. */
export function hold(name: string, pid: number, processors: number): Share {
  const folder = path.join(ABOVE, `${name}-${process.pid}`);
  mkdirSync(folder);
  const quota = Math.round(processors * PERIOD_US);
  const write = (file: string, value: string): void => writeFileSync(path.join(folder, file), value);
  if (IS_V2) write('cpu.max', `${quota} ${PERIOD_US}`);
  else {
    write('cpu.cfs_period_us', String(PERIOD_US));
    write('cpu.cfs_quota_us', String(quota));
  }
  for (const each of withDescendants(pid)) write('cgroup.procs', String(each));
  return {
    async end() {
      await eventually(() => {
        // A process may end, or start another one, meanwhile.
        for (const each of readText(path.join(folder, 'cgroup.procs')).split('\n').filter(Boolean)) {
          writeFileSync(path.join(ABOVE, 'cgroup.procs'), each);
        }
        rmdirSync(folder);
        return true;
      });
    },
  };
}
