// The stack under load: `npm start` in a directory of its own, with the HTTP target beside it.
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import getPort from 'get-port';
import { readStackFile, type StackFile } from '../../cli/embedded/stack-file.js';
import { createDatabase } from '../../db/core/client.js';
import { createKey } from '../../db/access/keys-repository.js';
import { WITH_INSPECTOR } from '../../harness/processes/collect-garbage.js';

export interface LoadStack {
  dataDir: string;
  targetUrl: string;
  /** A key without a limit that the load could reach. */
  apiKey: string;
  workerMetricsUrl: string;
  /** stack.json as it is now. */
  readonly file: StackFile;
  /** Process ids as they were when it was ready. */
  startedPids: StackFile['pids'];
  /** SIGTERM to the whole stack; answers how long it took and the exit code. */
  stop(): Promise<StopReport>;
  /** Starts a stack on the same data directory again. */
  start(): Promise<void>;
  /** Every process is gone afterwards; `keepData` leaves the directory with its logs for a look. */
  close(keepData: boolean): Promise<void>;
}

interface StopReport {
  tookMs: number;
  exitCode: number | null;
}

const ROOT = path.resolve(import.meta.dirname, '../..');
const START_TIMEOUT_MS = 120_000;
const UNLIMITED = 1_000_000_000;

export async function startLoadStack(): Promise<LoadStack> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'workflow-load-'));
  // PostgreSQL's account must be able to enter it when this runs as root.
  chmodSync(dataDir, 0o755);
  const target = fork(path.join(import.meta.dirname, 'target.ts'), { execArgv: ['--import', 'tsx'] });
  const [{ port }] = (await once(target, 'message')) as [{ port: number }];
  const metricsPort = await getPort({ host: '127.0.0.1' });
  let supervisor = spawnSupervisor(dataDir, metricsPort);
  await untilReady(supervisor, dataDir);
  const apiKey = await createLoadKey(readStackFile(dataDir)!);
  const stop = () => terminate(supervisor);
  return {
    dataDir,
    targetUrl: `http://127.0.0.1:${port}`,
    apiKey,
    startedPids: readStackFile(dataDir)!.pids,
    workerMetricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    get file() {
      const file = readStackFile(dataDir);
      if (file === undefined) throw new Error('the stack is not running');
      return file;
    },
    stop,
    async start() {
      supervisor = spawnSupervisor(dataDir, metricsPort);
      await untilReady(supervisor, dataDir);
    },
    async close(keepData) {
      await stop();
      target.disconnect();
      if (keepData) console.error(`The stack's data and logs are in ${dataDir}`);
      else rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function spawnSupervisor(dataDir: string, metricsPort: number): ChildProcess {
  const kept = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'XDG_CACHE_HOME', 'TEMPORAL_CLI', 'GOFLAGS', 'GOPROXY'];
  const tuning = Object.keys(process.env).filter((name) => name.startsWith('WORKER_'));
  const inherited = Object.fromEntries([...kept, ...tuning].map((name) => [name, process.env[name]]));
  const ports = { PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
  const child = spawn(process.execPath, ['--enable-source-maps', 'dist/cli/start.js', '--until-stdin-closes'], {
    cwd: ROOT,
    env: {
      ...inherited,
      ...ports,
      ...WITH_INSPECTOR,
      DATA_DIR: dataDir,
      WORKER_METRICS_PORT: String(metricsPort),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const log = createWriteStream(path.join(dataDir, 'supervisor.log'), { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  return child;
}

async function untilReady(child: ChildProcess, dataDir: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (readStackFile(dataDir) === undefined) {
    if (child.exitCode !== null) throw new Error(`the stack ended with code ${child.exitCode}; see ${dataDir}`);
    if (Date.now() > deadline) throw new Error(`the stack was not ready in time; see ${dataDir}`);
    await pause(100);
  }
}

async function terminate(child: ChildProcess): Promise<StopReport> {
  const startedAt = performance.now();
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }
  return { tookMs: performance.now() - startedAt, exitCode: child.exitCode };
}

async function createLoadKey({ database_url: url, user_id: userId }: StackFile): Promise<string> {
  const db = createDatabase({ url, poolMax: 1, applicationName: 'load', onError: () => undefined });
  try {
    return (await createKey(db, { userId, label: 'load', rateLimit: UNLIMITED })).apiKey;
  } finally {
    await db.destroy();
  }
}

interface TargetCalls {
  nodes: number;
  calls: number;
  repeated: number;
}

/** What the target has counted since it was started. */
export async function callsOf({ targetUrl }: LoadStack): Promise<TargetCalls> {
  return (await (await fetch(`${targetUrl}/calls`)).json()) as TargetCalls;
}
