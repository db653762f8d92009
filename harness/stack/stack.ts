// Starts a separate stack: `node dist/cli/start.js` as a child process, as a user would start it.
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeStackFile, type StackFile } from '../../cli/embedded/stack-file.js';
import { processesOf } from '../processes/family.js';
import { startFakeModelProvider, type FakeModelProvider } from '../target/fake-model-provider.js';
import { makeDataDir, readStack, spawnSupervisor, stopSupervisor, untilReady } from './supervisor.js';

interface BareOptions {
  env?: Record<string, string>;
  /** An existing directory, which `stop` retains. The default is a new directory, which `stop` removes. */
  dataDir?: string;
  /** The folder of the build. The default is this checkout's. */
  dist?: string;
}

export interface StackOptions extends BareOptions {
  /** Overrides test defaults such as free ports and the fake model provider. An empty value unsets a variable. */
  env?: Record<string, string>;
  /** Replaces the stack's own fake model provider. */
  modelProviderUrl?: string;
}

interface RunningStack {
  apiUrl: string;
  apiKey: string;
  dataDir: string;
  /** The current content of stack.json. */
  readonly stack: StackFile;
  /** Returns the children's logs and, if this process has started the stack, the supervisor's output. */
  logs: () => string;
  /**
   * Sends SIGTERM. Rejects if the supervisor exits with another code than 0 (a killed one has no code), or a process is
   * left. `keep` retains the directory for inspection.
   */
  stop: (options?: { keep?: boolean }) => Promise<void>;
}

/** The interface of a stack for tests, which may have been started by another process. */
export interface TestStack extends RunningStack {
  /** Accepts every model name. */
  modelProvider: FakeModelProvider;
}

/** A stack without a fake model provider. */
export interface BareStack extends RunningStack {
  supervisor: ChildProcess;
}

export interface StartedStack extends TestStack {
  supervisor: ChildProcess;
}

/** USD per million tokens. A call with 10 prompt and 5 completion tokens costs 0.00002. */
export const TEST_PRICES = { input_price_per_million: '1', output_price_per_million: '2' };

export async function startBareStack({ env, dataDir: existing, dist }: BareOptions): Promise<BareStack> {
  const dataDir = existing ?? makeDataDir();
  // A killed supervisor leaves its stack.json behind, which would make the new stack look ready.
  removeStackFile(dataDir);
  const { child: supervisor, output } = spawnSupervisor(dataDir, env, dist);
  const logs = (): string => [output(), ...childLogs(dataDir)].join('\n');
  try {
    await untilReady(supervisor, dataDir);
  } catch (error) {
    await stopSupervisor(supervisor);
    throw new Error(`the stack in ${dataDir} did not start:\n${logs()}`, { cause: error });
  }
  return Object.assign(runningIn(dataDir), {
    supervisor,
    logs,
    async stop({ keep = false } = {}) {
      const code = await stopSupervisor(supervisor);
      if (supervisor.signalCode === null && code !== 0) {
        throw new Error(`the supervisor ended with code ${code}:\n${logs()}`);
      }
      const left = processesOf(dataDir);
      if (left.length > 0) throw new Error(`processes were left behind: ${left.join('; ')}`);
      if (existing === undefined && !keep) rmSync(dataDir, { recursive: true, force: true });
      else if (keep) process.stderr.write(`The stack's data and logs are in ${dataDir}\n`);
    },
  });
}

export async function startStack(options: StackOptions = {}): Promise<StartedStack> {
  const { dataDir = makeDataDir(), modelProviderUrl, dist } = options;
  const modelProvider = await startFakeModelProvider();
  const env = {
    // Tests send many requests at once.
    SESSION_RATE_LIMIT: '1000000',
    MODEL_PROVIDERS_FILE: writeProvidersFile(dataDir, modelProviderUrl ?? modelProvider.url),
    ...suiteSettings(),
    ...options.env,
  };
  const bare = await startBareStack({ dataDir, env, ...(dist === undefined ? {} : { dist }) }).catch(
    async (error: unknown) => {
      await modelProvider.close();
      throw error;
    },
  );
  return Object.assign(stackIn(dataDir, modelProvider), {
    supervisor: bare.supervisor,
    logs: bare.logs,
    async stop({ keep = false } = {}) {
      await bare.stop({ keep });
      await modelProvider.close();
      if (options.dataDir === undefined && !keep) rmSync(dataDir, { recursive: true, force: true });
    },
  });
}

/**
 * Returns the stack in `dataDir`, which another process has started and stops. `stop` closes only the model provider.
 */
export function stackIn(dataDir: string, modelProvider: FakeModelProvider): TestStack {
  return Object.assign(runningIn(dataDir), { modelProvider, stop: () => modelProvider.close() });
}

/** Returns the path of the file that lists the stack's model provider. */
export function modelProvidersFile(dataDir: string): string {
  return path.join(dataDir, 'test-model-providers.json');
}

function runningIn(dataDir: string): RunningStack {
  const { api_url: apiUrl, api_key: apiKey } = readStack(dataDir);
  return {
    apiUrl,
    apiKey,
    dataDir,
    get stack() {
      return readStack(dataDir);
    },
    logs: () => childLogs(dataDir).join('\n'),
    stop: () => Promise.resolve(),
  };
}

/** Returns the settings of the service that test/runner/tiers.ts sets for a round of tests. No others are inherited. */
function suiteSettings(): Record<string, string> {
  const { WORKER_CACHED_WORKFLOWS } = process.env;
  return WORKER_CACHED_WORKFLOWS === undefined ? {} : { WORKER_CACHED_WORKFLOWS };
}

function writeProvidersFile(dataDir: string, baseUrl: string): string {
  const file = modelProvidersFile(dataDir);
  const models = [
    { id: '*', ...TEST_PRICES },
    { id: 'model-that-sees', ...TEST_PRICES },
    { id: 'model-that-reads-pdf', ...TEST_PRICES, accepts: ['image', 'pdf'] },
    { id: 'model-that-hears', ...TEST_PRICES, accepts: ['audio'] },
    { id: 'blind-model', ...TEST_PRICES, accepts: [] },
  ];
  const provider = { name: 'fake', base_url: baseUrl, models };
  writeFileSync(file, JSON.stringify({ providers: [provider] }));
  return file;
}

function childLogs(dataDir: string): string[] {
  const folder = path.join(dataDir, 'logs');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => `--- ${name}\n${readFileSync(path.join(folder, name), 'utf8')}`);
}
