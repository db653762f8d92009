// Backups as an operator takes them from a running service: the servers' files at one moment, as in a snapshot of their
// volume. SIGSTOP suspends the servers during the copy.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ChildName } from '../../cli/embedded/stack-file.js';
import { withDescendants } from '../../harness/processes/family.js';
import { signalAll } from '../../harness/processes/signals.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { makeDataDir } from '../../harness/stack/supervisor.js';

type Store = Extract<ChildName, 'postgres' | 'temporal'>;
export type Backups = Record<Store, string>;

/** Takes both backups at the same moment. */
export function takeSnapshot(stack: TestStack, into: string): Backups {
  const { postgres, temporal } = stack.stack.pids;
  // Parents are stopped first: PostgreSQL's first process would replace children that seem to hang.
  const pids = [temporal!, ...withDescendants(postgres!)];
  mkdirSync(into, { recursive: true });
  signalAll(pids, 'SIGSTOP');
  try {
    // PostgreSQL's files belong to another account if the tests run as root.
    execFileSync('cp', ['-a', path.join(stack.dataDir, 'postgres'), into]);
    for (const name of temporalFiles(stack.dataDir)) execFileSync('cp', ['-a', path.join(stack.dataDir, name), into]);
  } finally {
    signalAll(pids, 'SIGCONT');
  }
  // Files are copied last, so that all files that the database refers to are included.
  execFileSync('cp', ['-a', path.join(stack.dataDir, 'files'), into]);
  return { postgres: into, temporal: into };
}

/** Creates a data directory with the servers' state, perhaps of different moments, and the secrets of `secretsOf`. */
export function restore({ postgres, temporal }: Backups, secretsOf: string): string {
  const dataDir = makeDataDir();
  copyFileSync(path.join(secretsOf, 'secrets.json'), path.join(dataDir, 'secrets.json'));
  for (const name of ['postgres', 'files']) execFileSync('cp', ['-a', path.join(postgres, name), dataDir]);
  rmSync(path.join(dataDir, 'postgres', 'postmaster.pid'), { force: true });
  for (const name of temporalFiles(temporal)) execFileSync('cp', ['-a', path.join(temporal, name), dataDir]);
  if (!existsSync(path.join(dataDir, 'temporal.db'))) throw new Error('there is no backup of Temporal');
  return dataDir;
}

function temporalFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('temporal.db'));
}
