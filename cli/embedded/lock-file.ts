// A lock file that identifies its owner. The lock of a dead owner is ignored.
import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { writeFileAtomic } from './atomic-file.js';
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.js';

export type LockAttempt = { acquired: true; release: () => void } | { acquired: false; owner: ProcessIdentity };

/** Long enough that two processes which take over the same stale lock both see which one wrote last. */
const TAKEOVER_SETTLES_MS = 100;

export async function tryLock(file: string): Promise<LockAttempt> {
  const self = identifyProcess(process.pid);
  if (self === undefined) throw new Error('cannot read the own process state');
  if (!create(file, JSON.stringify(self))) {
    const owner = readOwner(file);
    if (owner !== undefined && isAlive(owner)) return { acquired: false, owner };
    writeFileAtomic(file, JSON.stringify(self));
    await pause(TAKEOVER_SETTLES_MS);
    const winner = readOwner(file);
    if (winner !== undefined && winner.pid !== self.pid) return { acquired: false, owner: winner };
  }
  return { acquired: true, release: () => rmSync(file, { force: true }) };
}

/** Returns the owner of the lock if it is running. */
export function lockOwner(file: string): ProcessIdentity | undefined {
  const owner = readOwner(file);
  return owner !== undefined && isAlive(owner) ? owner : undefined;
}

/**
 * Creates the file together with its text, so that nobody reads it empty and mistakes it for the lock of a dead owner.
 */
function create(file: string, text: string): boolean {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function readOwner(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}
