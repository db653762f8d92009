// Lists processes and their parents from /proc. Linux only; elsewhere the list is empty.
import { readFileSync, readdirSync } from 'node:fs';

export interface ProcessStat {
  pid: number;
  parent: number;
  /** `Z`: the process has ended, and its parent has not read the exit code yet. `T`: the process is stopped. */
  state: string;
  /** User and system time of the process without its children, in hundredths of a second. */
  ownTicks: number;
  /** The same of its children that have ended. */
  endedTicks: number;
}

/** Returns undefined if the process no longer exists. */
export function readStat(pid: number): ProcessStat | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  // The command's name is in parentheses and may itself hold spaces and parentheses (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, utime, stime, cutime, cstime] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  return { pid, parent: parent!, state: fields[0]!, ownTicks: utime! + stime!, endedTicks: cutime! + cstime! };
}

export function childrenOf(parent: number): ProcessStat[] {
  return allProcesses().filter((each) => each.parent === parent);
}

/** Returns the process and its descendants, parents first. On other systems than Linux it returns only the process. */
export function withDescendants(pid: number): number[] {
  const all = allProcesses();
  const found = [pid];
  for (const parent of found) found.push(...all.filter((each) => each.parent === parent).map((each) => each.pid));
  return found;
}

/**
 * Returns those live processes of the stack in `dataDir` that name the directory in their arguments (PostgreSQL,
 * Temporal) or in their environment (API, worker, supervisor), as "pid command". Children that do not name the
 * directory are left out.
 */
export function processesOf(dataDir: string): string[] {
  return allPids()
    .filter((pid) => pid !== process.pid)
    .flatMap((pid) => {
      const command = readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
      const environment = `\0${readText(`/proc/${pid}/environ`)}`;
      const isOurs = command.includes(dataDir) || environment.includes(`\0DATA_DIR=${dataDir}\0`);
      return isOurs ? [`${pid} ${command}`] : [];
    });
}

/** Returns an empty text if the file cannot be read: its process no longer exists or belongs to another user. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function allProcesses(): ProcessStat[] {
  return allPids().flatMap((pid) => readStat(pid) ?? []);
}

function allPids(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}
