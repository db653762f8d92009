import { readFileSync, readdirSync } from 'node:fs';

/**
 * The live processes of the stack in `dataDir`, as "pid command": those that name the directory in their arguments
 * (PostgreSQL, Temporal) or in their environment (API, worker, supervisor). Linux only; elsewhere none.
 */
export function processesOf(dataDir: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
      const environment = `\0${read(`/proc/${pid}/environ`)}`;
      const isOurs = command.includes(dataDir) || environment.includes(`\0DATA_DIR=${dataDir}\0`);
      return isOurs ? [`${pid} ${command}`] : [];
    });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // gone meanwhile, or somebody else's
  }
}
