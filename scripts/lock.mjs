// A lock file that contains its owner's pid. The lock of a dead owner is ignored, and so is an old lock.
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A build takes seconds. After this time, the pid in the file is assumed to belong to another process. */
const STALE_AFTER_MS = 5 * 60_000;

/** Runs `action` while no other process runs one with the same file. */
export async function withLock(file, action) {
  while (!acquire(file)) await pause(100);
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await action();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

function acquire(file) {
  try {
    const descriptor = openSync(file, 'wx');
    writeSync(descriptor, String(process.pid));
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isStale(file)) rmSync(file, { force: true });
    return false;
  }
}

function isStale(file) {
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    if (Date.now() - statSync(file).mtimeMs > STALE_AFTER_MS) return true;
    // An empty file is a lock whose owner has not written its pid yet.
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
