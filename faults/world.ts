// A stack, and the systems outside it.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../harness/processes/free-port.js';
import { queryDatabase } from '../test/support/inspect.js';
import { startStack, type StartedStack } from '../harness/stack/stack.js';
import { makeDataDir, portsOf } from '../harness/stack/supervisor.js';
import { readStackFile } from '../cli/embedded/stack-file.js';
import { withDescendants } from '../harness/processes/family.js';
import { signalAll } from '../harness/processes/signals.js';
import { startOutside, writeProviders } from './outside.js';
import type { Struck } from './service.js';

export interface World extends Struck {
  /** The current stack, which `restart` and `crash` replace. A restart changes neither the address nor the key. */
  readonly stack: StartedStack;
  providersFile: string;
  /** The additional environment of the stack, such as EXECUTION. */
  settings: Record<string, string>;
  workerReadyUrl: string;
  /** Lets held calls with this label be answered (shapes.ts). */
  release: (label: string) => void;
  /** Stops the stack with SIGTERM, waits for the end of every process, and starts it again on the same data. */
  restart: () => Promise<void>;
  /** Kills every process with SIGKILL, including the supervisor, and starts the stack again at once. */
  crash: () => Promise<void>;
}

/** `settings` are added to the stack's environment. */
export async function createWorld(settings: Record<string, string> = {}): Promise<World> {
  const dataDir = makeDataDir();
  const outside = await startOutside();
  const providersFile = path.join(dataDir, 'fault-model-providers.json');
  writeProviders(providersFile, outside.modelUrl);
  const metricsPort = String(await freePort());
  const env: Record<string, string> = {
    ...settings,
    MODEL_PROVIDERS_FILE: providersFile,
    WORKER_METRICS_PORT: metricsPort,
  };
  let stack = await startStack({ dataDir, env }).catch(async (error: unknown) => {
    await outside.close();
    throw error;
  });
  Object.assign(env, portsOf(stack));
  // The clients of a row poll more often than the local user's key allows.
  await queryDatabase(stack, 'UPDATE api_keys SET rate_limit = 1000000');
  const world: World = {
    get stack() {
      return stack;
    },
    apiUrl: stack.apiUrl,
    apiKey: stack.apiKey,
    outside,
    providersFile,
    settings,
    workerReadyUrl: `http://127.0.0.1:${metricsPort}/readyz`,
    countCalls: outside.countCalls,
    release: outside.release,
    query: (text, values) => queryDatabase(stack, text, values),
    pids: () => stack.stack.pids,
    heal: () => allowToRun(stack),
    isRunning: () => readStackFile(dataDir) !== undefined,
    folder: dataDir,
    async restart() {
      await stack.stop();
      stack = await startStack({ dataDir, env });
    },
    async crash() {
      const killed = stack;
      // The supervisor is killed first, because it would restart the others.
      signalAll(withDescendants(killed.supervisor.pid!), 'SIGKILL');
      stack = await startStack({ dataDir, env });
      await killed.modelProvider.close();
    },
    async close({ keep }) {
      allowToRun(stack);
      try {
        await stack.stop();
      } finally {
        await outside.close();
        if (!keep) rmSync(dataDir, { recursive: true, force: true });
      }
    },
  };
  return world;
}

/** Continues processes that an aborted fault may have left stopped. */
function allowToRun({ supervisor, dataDir }: StartedStack): void {
  const pids = Object.values(readStackFile(dataDir)?.pids ?? {}).flatMap((pid) => withDescendants(pid));
  signalAll([supervisor.pid!, ...pids], 'SIGCONT');
}
