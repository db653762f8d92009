// PostgreSQL refuses to run as root, so a stack that root starts runs it under another account.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from './child-process.js';
import { StartError } from './start-error.js';

export interface Account {
  uid: number;
  gid: number;
}

/**
 * Returns the account to use; undefined for the current one. For root, that is the owner of an existing data directory,
 * else `postgres`, which is created on this machine if it is missing, else `nobody`.
 */
export function postgresAccount(dataDirectory: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const existing = statSync(dataDirectory, { throwIfNoEntry: false });
  if (existing !== undefined && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
  return lookUp('postgres') ?? createPostgres() ?? lookUp('nobody') ?? fail();
}

/**
 * Returns the command that runs `command` as `account`. The account may be unable to enter a parent directory of
 * `paths`, such as /root or a private temporary directory. The process then keeps the capability `dac_override`, which
 * permits this, so that no directory's mode must be changed. `no_setuid_fixup` is needed because PostgreSQL checks its
 * own program with access(2), which otherwise ignores capabilities.
 */
export function runAs(account: Account | undefined, command: Command, paths: string[]): Command {
  if (account === undefined) return command;
  if (paths.every((file) => isReachable(file, account))) return { ...command, ...account };
  const setpriv = [
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
    '--',
  ];
  try {
    execFileSync('setpriv', [...setpriv, 'true'], { stdio: 'ignore' });
  } catch {
    throw new StartError(
      `PostgreSQL does not run as root, and user id ${account.uid} cannot enter ${closedParent(paths, account)}: start as an ordinary user, or from a directory open to others (chmod o+x), or set DATABASE_URL.`,
    );
  }
  return { ...command, file: 'setpriv', args: [...setpriv, command.file, ...command.args] };
}

function isReachable(file: string, account: Account): boolean {
  return closedParent([file], account) === undefined;
}

function closedParent(files: string[], { uid, gid }: Account): string | undefined {
  const parents = files.flatMap((file) => parentsOf(path.resolve(file)));
  return parents.find((directory) => {
    const { mode, uid: owner, gid: group } = statSync(directory);
    const execute = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
    return (mode & execute) === 0;
  });
}

function parentsOf(file: string): string[] {
  const parent = path.dirname(file);
  return parent === file ? [] : [...parentsOf(parent), parent];
}

function lookUp(name: string): Account | undefined {
  try {
    const id = (flag: string): number =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

function createPostgres(): Account | undefined {
  try {
    execFileSync('groupadd', ['--system', '--force', 'postgres'], { stdio: 'ignore' });
    execFileSync('useradd', ['--system', '--gid', 'postgres', '--no-create-home', 'postgres'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return lookUp('postgres');
}

function fail(): never {
  throw new StartError('PostgreSQL does not run as root and there is no user postgres: start as an ordinary user.');
}
