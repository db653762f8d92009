// A build of the run workflow that differs from the sources in a few words: the build of a careless change.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const ROOT = path.resolve(import.meta.dirname, '../..');
const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };

export interface Change {
  /** In temporal-workflows/. */
  file: string;
  find: string;
  replace: string;
}

/** The bundle's code. Throws when the sources have no such words any more. */
export async function bundleWith(changes: Change[]): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'doctored-workflows-'));
  try {
    for (const part of ['temporal-workflows', 'contract', 'graph', 'package.json']) {
      cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true });
    }
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    for (const { file, find, replace } of changes) {
      const source = path.join(folder, 'temporal-workflows', file);
      const text = readFileSync(source, 'utf8');
      if (!text.includes(find)) throw new Error(`${file} has no "${find}" to replace`);
      writeFileSync(source, text.replace(find, replace));
    }
    const workflowsPath = path.join(folder, 'temporal-workflows/index.ts');
    const workflowInterceptorModules = [path.join(folder, 'temporal-workflows/interceptors.ts')];
    const preloadModules = [workflowsPath, ...workflowInterceptorModules];
    const options = { workflowsPath, workflowInterceptorModules, preloadModules, logger: quiet };
    return (await bundleWorkflowCode(options)).code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
