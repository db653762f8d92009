// The stack under test: `npm start`'s own supervisor on a directory and ports of its own, started from the build.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readStackFile, type StackFile } from '../cli/embedded/stack-file.js';

export interface BenchStack {
  dataDir: string;
  /** The key of a user whose rate limit does not matter here. */
  apiKey: string;
  /** stack.json as it is now: process ids follow restarts. */
  readonly file: StackFile;
  stop: () => Promise<void>;
}

/** The build that this file belongs to. */
export const OWN_BUILD = fileURLToPath(new URL('..', import.meta.url));
const START_TIMEOUT_MS = 120_000;
const RATE_LIMIT = 100_000_000;
const FREE_PORTS = { PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
/** What finds programs and caches. The person's own settings of the service must not reach what is measured. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'XDG_CACHE_HOME', 'TEMPORAL_CLI', 'GOFLAGS', 'GOPROXY'];

export function inheritedEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.includes(name)));
}

export interface StackSettings {
  /** The folder `dist` of this or another checkout. */
  build: string;
  /** These replace settings of `npm start`. */
  env: Record<string, string>;
}

export async function startBenchStack({ build, env }: StackSettings): Promise<BenchStack> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'workflow-bench-'));
  // PostgreSQL runs under an account of its own where we are root, and must get in.
  chmodSync(dataDir, 0o755);
  const logFile = path.join(dataDir, 'supervisor.log');
  const output = openSync(logFile, 'a');
  const supervisor = spawn(
    process.execPath,
    ['--enable-source-maps', path.join(build, 'cli/start.js'), '--until-stdin-closes'],
    {
      env: { ...inheritedEnvironment(), ...FREE_PORTS, DATA_DIR: dataDir, ...env },
      stdio: ['pipe', output, output],
    },
  );
  closeSync(output);
  try {
    await untilReady(supervisor, dataDir);
    const readFile = (): StackFile => {
      const file = readStackFile(dataDir);
      if (file === undefined) throw new Error('the stack has stopped');
      return file;
    };
    return {
      dataDir,
      apiKey: await createKey(build, dataDir, readFile().user_id),
      get file() {
        return readFile();
      },
      async stop() {
        await stop(supervisor);
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await stop(supervisor);
    const log = readFileSync(logFile, 'utf8');
    rmSync(dataDir, { recursive: true, force: true });
    throw new Error(`the stack did not start:\n${log}`, { cause: error });
  }
}

async function untilReady(supervisor: ChildProcess, dataDir: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (readStackFile(dataDir) === undefined) {
    if (supervisor.exitCode !== null) throw new Error(`the supervisor ended with code ${supervisor.exitCode}`);
    if (Date.now() > deadline) throw new Error(`it was not ready after ${START_TIMEOUT_MS / 1000} s`);
    await pause(50);
  }
}

/** The key that a stack makes for its local user allows 6,000 requests a minute; polls alone are more than that. */
async function createKey(build: string, dataDir: string, userId: number): Promise<string> {
  const args = ['key', 'create', '--user', String(userId), '--rate-limit', String(RATE_LIMIT), '--label', 'bench'];
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(build, 'cli/admin.js'), ...args], {
    env: { ...inheritedEnvironment(), DATA_DIR: dataDir },
  });
  return (JSON.parse(stdout) as { api_key: string }).api_key;
}

async function stop(supervisor: ChildProcess): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return;
  const exited = once(supervisor, 'exit');
  supervisor.kill('SIGTERM');
  await exited;
}
