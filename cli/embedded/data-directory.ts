// Ensures that one supervisor at a time owns a DATA_DIR. The next owner stops processes that a killed
// supervisor left running.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeFileAtomic } from './atomic-file.js';
import { lockOwner, tryLock, type LockAttempt } from './lock-file.js';
import { identifyProcess, terminate, type ProcessIdentity } from './process-identity.js';
import { removeStackFile, type ChildName } from './stack-file.js';
import { StartError } from './start-error.js';

export interface DataDirectory {
  /** An absolute path. */
  path: string;
  logFile: (name: string) => string;
  /** Stores the pids of the children, so that the next owner can stop them. */
  recordChildren: (pids: Partial<Record<ChildName, number>>) => void;
  release: () => void;
}

/** Worker and API stop first, because they use the others. */
const STOP_ORDER: ChildName[] = ['worker', 'api', 'temporal', 'postgres'];
/** Shorter than in an orderly stop, because these processes have no clients any more. */
const LEFTOVER_STOP_MS = 5_000;
const DYING_MS = 1_000;

/** Throws StartError if the directory cannot be made or written, or if a running stack uses it. */
export async function openDataDirectory(dataDir: string): Promise<DataDirectory> {
  const root = path.resolve(dataDir);
  const childrenFile = path.join(root, 'children.json');
  makeDirectories(root);
  const lock = await lockPatiently(lockFile(root));
  if (!lock.acquired) {
    throw new StartError(
      `A stack already runs in ${root} (process ${lock.owner.pid}): stop it, or set DATA_DIR to another directory.`,
    );
  }
  removeStackFile(root);
  await stopLeftovers(childrenFile);
  return {
    path: root,
    logFile: (name) => path.join(root, 'logs', `${name}.log`),
    recordChildren(pids) {
      const identities = Object.entries(pids).map(([name, pid]) => [name, identifyProcess(pid)]);
      writeFileAtomic(childrenFile, JSON.stringify(Object.fromEntries(identities)));
    },
    release() {
      rmSync(childrenFile, { force: true });
      lock.release();
    },
  };
}

/**
 * Retries for a while, because a supervisor that was just killed may still be exiting, especially on a busy machine.
 */
async function lockPatiently(file: string): Promise<LockAttempt> {
  const deadline = Date.now() + DYING_MS;
  for (;;) {
    const lock = await tryLock(file);
    if (lock.acquired || Date.now() > deadline) return lock;
    await pause(50);
  }
}

/** Returns true if a running supervisor owns the directory. */
export function isStackAlive(dataDir: string): boolean {
  return lockOwner(lockFile(path.resolve(dataDir))) !== undefined;
}

function lockFile(root: string): string {
  return path.join(root, 'supervisor.lock');
}

function makeDirectories(root: string): void {
  try {
    mkdirSync(root, { recursive: true });
    mkdirSync(path.join(root, 'logs'), { recursive: true, mode: 0o700 });
    accessSync(root, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`DATA_DIR: ${root} cannot be made or written (${code}): set it to a directory of this user.`);
  }
}

async function stopLeftovers(childrenFile: string): Promise<void> {
  if (!existsSync(childrenFile)) return;
  const children = JSON.parse(readFileSync(childrenFile, 'utf8')) as Partial<Record<ChildName, ProcessIdentity>>;
  for (const name of STOP_ORDER) {
    const leftover = children[name];
    if (leftover === undefined) continue;
    // SIGINT is PostgreSQL's fast shutdown; after SIGTERM it would wait for its clients.
    await terminate(leftover, name === 'postgres' ? 'SIGINT' : 'SIGTERM', LEFTOVER_STOP_MS);
  }
  rmSync(childrenFile, { force: true });
}
