// A lock file that identifies its owner. The lock of a process that is gone is removed.
import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Runs `action` while no other process runs one with the same file. */
export async function withLock(file, action) {
  while (!acquire(file)) await pause(100);
  const release = () => {
    if (ownerOf(file) === identify(process.pid)) rmSync(file, { force: true });
  };
  process.once('exit', release);
  try {
    return await action();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

function acquire(file) {
  // A link creates the lock together with its text, so that nobody reads it before its owner has written its name.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, identify(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
  if (isStale(file)) removeStale(file);
  return false;
}

/**
 * A lock of its own lets only one process at a time remove the stale lock. The lock is read again, because another
 * process may have removed it and acquired the lock since it was last read.
 */
function removeStale(file) {
  const removal = `${file}.removal`;
  if (!acquire(removal)) return;
  if (isStale(file)) rmSync(file, { force: true });
  rmSync(removal, { force: true });
}

function isStale(file) {
  const owner = ownerOf(file);
  return owner !== undefined && owner !== identify(Number.parseInt(owner, 10));
}

function ownerOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

/** A pid may be reused; together with its start time it identifies one process. Undefined if no such process runs. */
function identify(pid) {
  const startedAt = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startedAt === undefined ? undefined : `${pid} ${startedAt}`;
}

function startTimeFromProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name before these fields is in parentheses, and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startTimeFromPs(pid) {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
