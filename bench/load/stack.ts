// The stack under load: `npm start` in its own directory, and the HTTP target.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../harness/processes/free-port.js';
import type { StackFile } from '../../cli/embedded/stack-file.js';
import { WITH_INSPECTOR } from '../../harness/processes/collect-garbage.js';
import { startBareStack } from '../../harness/stack/stack.js';
import { callsOf } from '../../harness/target/recorded-calls.js';
import { makeDataDir, stopSupervisor, unlimitedKey } from '../../harness/stack/supervisor.js';

export interface LoadStack {
  dataDir: string;
  targetUrl: string;
  /** The address of the API, which may change with `start`. */
  readonly apiUrl: string;
  /** A key whose limits the load cannot reach. */
  apiKey: string;
  workerMetricsUrl: string;
  /** The current content of stack.json. */
  readonly stack: StackFile;
  /** The process ids when the stack was first ready. */
  startedPids: StackFile['pids'];
  /** Sends SIGTERM to the whole stack; returns the time until it had stopped, and its exit code. */
  stop(): Promise<StopReport>;
  /** Starts the stack again on the same data directory. */
  start(): Promise<void>;
  /** Ends all processes. `keepData` leaves the directory and its logs for inspection. */
  close(keepData: boolean): Promise<void>;
}

interface StopReport {
  tookMs: number;
  exitCode: number | null;
}

export async function startLoadStack(): Promise<LoadStack> {
  const dataDir = makeDataDir();
  const target = fork(path.join(import.meta.dirname, '../../harness/target/target-process.ts'), {
    execArgv: ['--import', 'tsx'],
  });
  const [{ port }] = (await once(target, 'message')) as [{ port: number }];
  const metricsPort = await freePort();
  const env = { ...tuning(), ...WITH_INSPECTOR, WORKER_METRICS_PORT: String(metricsPort) };
  let running = await startBareStack({ dataDir, env });
  const stop = async (): Promise<StopReport> => {
    const startedAt = performance.now();
    const exitCode = await stopSupervisor(running.supervisor);
    return { tookMs: performance.now() - startedAt, exitCode };
  };
  return {
    dataDir,
    targetUrl: `http://127.0.0.1:${port}`,
    apiKey: await unlimitedKey(dataDir),
    startedPids: running.stack.pids,
    workerMetricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    get apiUrl() {
      return running.apiUrl;
    },
    get stack() {
      return running.stack;
    },
    stop,
    async start() {
      running = await startBareStack({ dataDir, env });
    },
    async close(keepData) {
      await stop();
      target.disconnect();
      if (!keepData) return rmSync(dataDir, { recursive: true, force: true });
      writeFileSync(path.join(dataDir, 'stack.log'), running.logs());
      console.error(`The stack's data and logs are in ${dataDir}`);
    },
  };
}

/** The worker's settings in this process's environment, to be tested under load. */
function tuning(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith('WORKER_') && value !== undefined ? [[name, value]] : [],
    ),
  );
}

interface TargetCalls {
  nodes: number;
  /** The number of nodes that have called more than once. */
  repeated: number;
}

/** Counts the calls that the target has recorded since it was started. Each node of a run calls its own path. */
export async function countCalls({ targetUrl }: LoadStack): Promise<TargetCalls> {
  const counts = new Map<string, number>();
  for (const [address] of await callsOf(targetUrl)) counts.set(address, (counts.get(address) ?? 0) + 1);
  return { nodes: counts.size, repeated: [...counts.values()].filter((count) => count > 1).length };
}
