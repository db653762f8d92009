// A PostgreSQL of a test's own, whose disk can be filled and which can be frozen, killed and started again.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { claimPort } from '../../cli/embedded/ports.js';
import { createPostgresServer } from '../../cli/embedded/postgres-server.js';
import { withDescendants } from '../../harness/processes/family.js';
import { signalAll } from '../../harness/processes/signals.js';
import { eventually } from '../../harness/timing/eventually.js';

/** Why no small file system can be mounted here; undefined where it can. */
export function noSmallDisk(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux mounts a small file system';
  const folder = mkdtempSync(path.join(tmpdir(), 'small-disk-'));
  try {
    mountTmpfs(folder, 1);
    execFileSync('umount', [folder]);
    return undefined;
  } catch (error) {
    return `no file system can be mounted: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface OwnPostgres {
  url: string;
  start: () => Promise<void>;
  /** `kill -9` of the server and all its processes. */
  kill: () => Promise<void>;
  freeze: () => void;
  thaw: () => void;
  /** Leaves no free block on the disk of the tables, or on that of the log of changes (WAL). */
  fill: (which?: 'tables' | 'log') => void;
  free: () => void;
  /** True until the server has ended. */
  isRunning: () => boolean;
  /** Stops the server and removes its data. */
  remove: () => Promise<void>;
}

interface OwnPostgresOptions {
  /** The size of the disk of the tables, and of that of the log; without it, both are on the machine's own disk. */
  diskMiB?: number;
  settings?: Record<string, string>;
}

export async function createOwnPostgres({ diskMiB, settings = {} }: OwnPostgresOptions = {}): Promise<OwnPostgres> {
  const folder = mkdtempSync(path.join(tmpdir(), 'own-postgres-'));
  chmodSync(folder, 0o755);
  const disk = path.join(folder, 'disk');
  const logDisk = path.join(folder, 'log-disk');
  const disks = diskMiB === undefined ? [] : [disk, logDisk];
  mkdirSync(disk);
  mkdirSync(logDisk);
  for (const each of disks) mountTmpfs(each, diskMiB!);
  const server = createPostgresServer({ dataDir: disk, password: 'own-postgres', env: process.env });
  await server.prepare();
  if (diskMiB !== undefined) moveLog(disk, path.join(logDisk, 'wal'));
  const { command, isReady, url } = server.on(
    await claimPort({ port: 0, host: '127.0.0.1', variable: 'POSTGRES_PORT' }),
  );
  const { file, args, ...options } = command;
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const fillers = { tables: path.join(disk, 'filler'), log: path.join(logDisk, 'filler') };
  let child: ChildProcess | undefined;

  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const family = (): number[] => withDescendants(child!.pid!);
  const ended = async (): Promise<void> => {
    if (isRunning()) await once(child!, 'exit');
  };
  return {
    url,
    isRunning,
    async start() {
      await server.prepare();
      child = spawn(file, [...args, ...flags], { ...options, stdio: 'ignore' });
      await eventually(async () => (await isReady()) && isRunning());
    },
    async kill() {
      signalAll(family(), 'SIGKILL');
      await ended();
    },
    freeze: () => signalAll(family(), 'SIGSTOP'),
    thaw: () => signalAll(family(), 'SIGCONT'),
    fill(which = 'tables') {
      const block = Buffer.alloc(64 * 1024, 1);
      const out = openSync(fillers[which], 'a');
      try {
        for (let size = block.length; size >= 512;) {
          try {
            writeSync(out, block.subarray(0, size));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            size /= 2;
          }
        }
      } finally {
        closeSync(out);
      }
    },
    free() {
      for (const filler of Object.values(fillers)) rmSync(filler, { force: true });
    },
    async remove() {
      if (isRunning()) {
        signalAll(family(), 'SIGCONT');
        child!.kill('SIGINT');
        await ended();
      }
      for (const each of disks) execFileSync('umount', ['--lazy', each]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function mountTmpfs(folder: string, sizeMiB: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=0755`, 'tmpfs', folder], { stdio: 'pipe' });
}

/** Moves the WAL to another disk, because a full disk of the WAL has another effect: it ends the server at once. */
function moveLog(disk: string, to: string): void {
  const log = path.join(disk, 'postgres/pg_wal');
  const { uid, gid } = statSync(log);
  cpSync(log, to, { recursive: true });
  execFileSync('chown', ['-R', `${uid}:${gid}`, to]);
  chmodSync(to, 0o700);
  renameSync(log, `${log}-moved`);
  rmSync(`${log}-moved`, { recursive: true });
  symlinkSync(to, log);
  chownSync(path.dirname(log), uid, gid);
}
