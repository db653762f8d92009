// Compiles the Temporal CLI with `go install`, for machines that have Go and reach its module proxy, but on which
// neither the download nor the Python wheel succeeds.
import { spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

interface CompileOptions {
  env: NodeJS.ProcessEnv;
  report: (line: string) => void;
  signal: AbortSignal;
}

const MODULE = 'github.com/temporalio/cli/cmd/temporal';
const REPORT_EVERY_MS = 5_000;

/** Writes the program to `target` atomically. Rejects without a Go compiler, or if compilation fails. */
export async function compileTemporal(version: string, target: string, options: CompileOptions): Promise<void> {
  const folder = mkdtempSync(`${target}-build-`);
  try {
    await goInstall(`${MODULE}@${version}`, folder, options);
    renameSync(path.join(folder, 'temporal'), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function goInstall(
  versionedModule: string,
  folder: string,
  { env, report, signal }: CompileOptions,
): Promise<void> {
  const startedAt = Date.now();
  let downloaded = 0;
  let compiled = 0;
  let lastLine = '';
  // No C compiler is needed, because the server's SQLite is a Go port. `-v` prints each package as it is compiled.
  const go = spawn('go', ['install', '-v', '-ldflags=-s -w', versionedModule], {
    env: { ...env, GOBIN: folder, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    report(`Temporal server: compiling, ${seconds} s, ${downloaded} modules downloaded, ${compiled} packages compiled`);
  }, REPORT_EVERY_MS);
  createInterface({ input: go.stderr }).on('line', (line) => {
    if (line.startsWith('go: downloading ')) downloaded += 1;
    else if (/^[\w./-]+$/.test(line)) compiled += 1;
    else lastLine = line;
  });
  try {
    await new Promise<void>((resolve, reject) => {
      go.once('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ENOENT' ? new Error('there is no Go compiler on PATH') : error);
      });
      go.once('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`go install: ${lastLine || `code ${code}`}`)),
      );
    });
  } finally {
    clearInterval(progress);
  }
  report(`Temporal server: compiled in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}
