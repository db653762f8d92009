// Holds processes to a share of a processor, by cgroups of either version. Needs Linux and root.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withDescendants } from '../../harness/processes/family.js';
import { eventually } from '../../harness/timing/eventually.js';

const ROOT = '/sys/fs/cgroup';
const IS_V2 = existsSync(path.join(ROOT, 'cgroup.controllers'));
const PERIOD_US = 20_000;

export interface Share {
  /** Removes the limit, when the processes have ended. */
  end(): Promise<void>;
}

/** Returns what keeps this machine from limiting processes, as a sentence, or undefined. */
export function lackOfShares(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'cgroups need Linux and root';
  if (IS_V2 || existsSync(path.join(ROOT, 'cpu'))) return undefined;
  return `there are no cgroups for processors in ${ROOT}`;
}

/** The process and its children together get at most `processors` of processor time a second. */
export function hold(name: string, pid: number, processors: number): Share {
  const folder = path.join(IS_V2 ? ROOT : path.join(ROOT, 'cpu'), `${name}-${process.pid}`);
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
        try {
          rmdirSync(folder);
          return true;
        } catch {
          return false; // a process in it has not ended yet
        }
      });
    },
  };
}
