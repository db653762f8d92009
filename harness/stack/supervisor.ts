// Runs the supervisor of `npm start` as a child process, with its own data directory, free ports and any build.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { readStackFile, stackFile, type StackFile } from '../../cli/embedded/stack-file.js';
import { eventually } from '../timing/eventually.js';

export interface Supervisor {
  child: ChildProcess;
  /** Returns the output so far. */
  output: () => string;
}

const ABOVE = path.resolve(import.meta.dirname, '../..');
/** The build of this checkout: `dist` or, if this file itself was compiled, the build that contains it. */
export const OWN_BUILD = import.meta.filename.endsWith('.ts') ? path.join(ABOVE, 'dist') : ABOVE;
/** Longer than the supervisor's own timeouts (two of 60 s), so that it can report which part is late. */
const START_TIMEOUT_MS = 150_000;
const FREE_PORTS = { PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
/**
 * The variables that child processes inherit. The user's own settings of the service must not affect tests or figures.
 */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'TEMPORAL_CLI',
  'NODE_V8_COVERAGE',
  'GOFLAGS',
  'GOPROXY',
];
/** More than any load sends. The key of the local user only allows 6,000 requests a minute. */
const UNLIMITED = 1_000_000_000;

export function inheritedEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.includes(name)));
}

/**
 * Creates a directory that every user can enter, because PostgreSQL has its own account if this process runs as root.
 */
export function makeDataDir(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'workflow-stack-'));
  chmodSync(directory, 0o755);
  return directory;
}

/** The supervisor stops when its standard input closes, so it also stops if this process is killed. */
export function spawnSupervisor(dataDir: string, env: NodeJS.ProcessEnv = {}, build = OWN_BUILD): Supervisor {
  const entry = path.join(build, 'cli/start.js');
  if (!existsSync(entry)) throw new Error('there is no build: run npm run build first');
  const child = spawn(process.execPath, ['--enable-source-maps', entry, '--until-stdin-closes'], {
    cwd: path.dirname(OWN_BUILD),
    env: { ...inheritedEnvironment(), ...FREE_PORTS, DATA_DIR: dataDir, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  return { child, output: () => text };
}

/** Rejects if the supervisor exits before the stack is ready, or if the stack is not ready in time. */
export async function untilReady(child: ChildProcess, dataDir: string): Promise<void> {
  const outcome = await eventually(
    () => {
      if (readStackFile(dataDir) !== undefined) return 'ready';
      return child.exitCode !== null || child.signalCode !== null ? 'exited' : false;
    },
    { timeoutMs: START_TIMEOUT_MS },
  );
  if (outcome === 'exited') throw new Error(`the supervisor exited with code ${child.exitCode}`);
}

/** Sends SIGTERM and returns the exit code, or null if the supervisor was killed. */
export async function stopSupervisor(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'close');
    child.kill('SIGTERM');
    await exited;
  }
  return child.exitCode;
}

/** Returns the current content of stack.json. Restarts change the process ids. */
export function readStack(dataDir: string): StackFile {
  const stack = readStackFile(dataDir);
  if (stack === undefined) throw new Error(`there is no ${stackFile(dataDir)}`);
  return stack;
}

/** Returns the environment with which another stack uses the ports of this one. */
export function portsOf({ stack }: { stack: StackFile }): Record<string, string> {
  const port = (url: string): string => new URL(url).port;
  return {
    PORT: port(stack.api_url),
    POSTGRES_PORT: port(stack.database_url),
    TEMPORAL_PORT: port(`http://${stack.temporal_address}`),
    TEMPORAL_UI_PORT: port(stack.temporal_ui_url),
  };
}

/** Creates a further key of the stack's local user, with a rate limit that cannot be reached. */
export async function unlimitedKey(dataDir: string, build = OWN_BUILD): Promise<string> {
  const user = String(readStack(dataDir).user_id);
  const args = ['key', 'create', '--user', user, '--rate-limit', String(UNLIMITED), '--label', 'unlimited'];
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(build, 'cli/admin.js'), ...args], {
    env: { ...inheritedEnvironment(), DATA_DIR: dataDir },
  });
  return (JSON.parse(stdout) as { api_key: string }).api_key;
}
