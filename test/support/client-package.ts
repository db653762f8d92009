// A project outside of this repository that installs the TypeScript client from the package that `npm pack` makes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execute, mustRun, personsEnvironment, type Finished } from './shell.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const CLIENT = path.join(ROOT, 'clients/typescript');

export interface ClientProject {
  folder: string;
  write: (file: string, text: string) => void;
  /** Runs `tsc` with these options. */
  compile: (...options: string[]) => Promise<Finished>;
  remove: () => void;
}

/** Packs the client and installs it, with TypeScript and the types of Node.js, in a new project. */
export async function createClientProject(): Promise<ClientProject> {
  const folder = mkdtempSync(path.join(tmpdir(), 'client-project-'));
  const write = (file: string, text: string): void => writeFileSync(path.join(folder, file), text);
  try {
    // This also installs the client's build tools.
    await mustRun(process.execPath, ['scripts/generate-client.mjs', '--check'], { cwd: ROOT });
    const packed = await mustRun('npm', ['pack', '--json', '--pack-destination', folder], { cwd: CLIENT });
    const { filename } = (JSON.parse(packed.slice(packed.indexOf('['))) as { filename: string }[])[0]!;
    write('package.json', JSON.stringify({ name: 'somebody', private: true, type: 'module' }));
    const versions = ['typescript', '@types/node'].map((name) => `${name}@${installedVersion(name)}`);
    // `--prefer-offline` reuses the packages that `npm ci` has downloaded for this repository.
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    await mustRun('npm', [...install, `./${filename}`, ...versions], { cwd: folder });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    folder,
    write,
    compile: (...options) =>
      execute(path.join(folder, 'node_modules/.bin/tsc'), options, { cwd: folder, env: personsEnvironment() }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function installedVersion(name: string): string {
  const manifest = readFileSync(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
