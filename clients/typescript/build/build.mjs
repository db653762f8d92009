// Compiles the client twice: as ES modules and, for `require`, as CommonJS.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync(path.join(root, 'dist'), { recursive: true, force: true });
compile('dist/esm');
compile('dist/cjs', '--module', 'commonjs', '--moduleResolution', 'node10', '--esModuleInterop');
writeFileSync(path.join(root, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');

function compile(folder, ...settings) {
  mkdirSync(path.join(root, folder), { recursive: true });
  const args = [tsc, '--project', root, '--outDir', path.join(root, folder), ...settings];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
