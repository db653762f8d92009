// A whole stack of its own for tests: `node dist/cli/start.js` as a child process, as a person would start it.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readStackFile, removeStackFile, stackFile, type StackFile } from '../../cli/embedded/stack-file.js';
import { eventually } from '../timing/eventually.js';
import { startFakeModelProvider, type FakeModelProvider } from '../target/fake-model-provider.js';
import { processesOf } from '../processes/family.js';

export interface StackOptions {
  /** Over the test defaults (every port picked freely, the fake model provider). An empty value unsets a variable. */
  env?: Record<string, string>;
  /** An existing directory is kept on `stop`; by default a new one, removed on `stop`. */
  dataDir?: string;
  /** In place of the stack's own fake model provider. */
  modelProviderUrl?: string;
  /** The folder of the build; this checkout's by default. */
  dist?: string;
}

/** A stack as tests use it, whoever has started it. */
export interface TestStack {
  apiUrl: string;
  apiKey: string;
  dataDir: string;
  /** Serves every model name. */
  modelProvider: FakeModelProvider;
  /** stack.json as it is now. */
  readonly stack: StackFile;
  /** What the supervisor printed, and the children's logs. */
  logs: () => string;
  /** SIGTERM; rejects when the exit code is not 0 or a process is left. `keep` leaves the directory for a look. */
  stop: (options?: { keep?: boolean }) => Promise<void>;
}

export interface StartedStack extends TestStack {
  supervisor: ChildProcess;
}

const ROOT = path.resolve(import.meta.dirname, '../..');
/** More than the supervisor's own patience (60 s for each of its two rounds), so that it can say which part is late. */
const START_TIMEOUT_MS = 150_000;
const FREE_PORTS = { PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
/** USD per million tokens: a call of 10 prompt and 5 completion tokens costs 0.00002. */
export const TEST_PRICES = { input_price_per_million: '1', output_price_per_million: '2' };

export async function startStack(options: StackOptions = {}): Promise<StartedStack> {
  const dataDir = options.dataDir ?? makeDataDir();
  const modelProvider = await startFakeModelProvider();
  // That of a killed supervisor stays until the next one starts, and would be taken for it.
  removeStackFile(dataDir);
  const env = {
    // Tests ask from many sides at once.
    SESSION_RATE_LIMIT: '1000000',
    MODEL_PROVIDERS_FILE: writeProvidersFile(dataDir, options.modelProviderUrl ?? modelProvider.url),
    ...options.env,
  };
  const { child, output } = spawnSupervisor(dataDir, env, options.dist);
  const logs = (): string => [output(), ...childLogs(dataDir)].join('\n');
  try {
    await waitForStackFile(child, dataDir);
  } catch (error) {
    await stopSupervisor(child, logs).catch(() => undefined);
    await modelProvider.close();
    throw new Error(`the stack in ${dataDir} did not start:\n${logs()}`, { cause: error });
  }
  return Object.assign(stackIn(dataDir, modelProvider), {
    supervisor: child,
    logs,
    async stop({ keep = false } = {}) {
      await stopSupervisor(child, logs);
      await modelProvider.close();
      const left = processesOf(dataDir);
      if (left.length > 0) throw new Error(`processes were left behind: ${left.join('; ')}`);
      if (options.dataDir === undefined && !keep) rmSync(dataDir, { recursive: true, force: true });
      else if (keep) process.stderr.write(`The stack's data and logs are in ${dataDir}\n`);
    },
  });
}

/** The running stack in `dataDir`, which belongs to somebody else: only its model provider ends with `stop`. */
export function stackIn(dataDir: string, modelProvider: FakeModelProvider): TestStack {
  const readStack = (): StackFile => {
    const stack = readStackFile(dataDir);
    if (stack === undefined) throw new Error(`there is no ${stackFile(dataDir)}`);
    return stack;
  };
  const { api_url: apiUrl, api_key: apiKey } = readStack();
  return {
    apiUrl,
    apiKey,
    dataDir,
    modelProvider,
    get stack() {
      return readStack();
    },
    logs: () => childLogs(dataDir).join('\n'),
    stop: () => modelProvider.close(),
  };
}

/** `node dist/cli/start.js` with the test's environment; it ends when this process ends, however it ends. */
export function spawnSupervisor(
  dataDir: string,
  env: Record<string, string> = {},
  dist = path.join(ROOT, 'dist'),
): SpawnedSupervisor {
  const entry = path.join(dist, 'cli/start.js');
  if (!existsSync(entry)) throw new Error('there is no build: run npm run build first');
  const child = spawn(process.execPath, ['--enable-source-maps', entry, '--until-stdin-closes'], {
    cwd: ROOT,
    env: { ...inheritedEnvironment(), ...FREE_PORTS, DATA_DIR: dataDir, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  return { child, output: () => text };
}

/** Environment with which the stack's successor is found where the stack was. */
export function portsOf({ stack }: Pick<TestStack, 'stack'>): Record<string, string> {
  const port = (url: string): string => new URL(url).port;
  return {
    PORT: port(stack.api_url),
    POSTGRES_PORT: port(stack.database_url),
    TEMPORAL_PORT: port(`http://${stack.temporal_address}`),
    TEMPORAL_UI_PORT: port(stack.temporal_ui_url),
  };
}

export interface SpawnedSupervisor {
  child: ChildProcess;
  output: () => string;
}

/** Open to all, so that PostgreSQL's account can enter it when the tests run as root. */
export function makeDataDir(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'workflow-stack-'));
  chmodSync(directory, 0o755);
  return directory;
}

/** The person's own settings must not reach a test stack. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const kept = [
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
    // How the whole suite is run, not what a person has set: test/runner/tiers.ts.
    'WORKER_CACHED_WORKFLOWS',
  ];
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.includes(name)));
}

/** Lists the stack's model provider. */
export function modelProvidersFile(dataDir: string): string {
  return path.join(dataDir, 'test-model-providers.json');
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

async function waitForStackFile(child: ChildProcess, dataDir: string): Promise<void> {
  await eventually(
    () => {
      if (readStackFile(dataDir) !== undefined) return 'ready';
      return child.exitCode !== null || child.signalCode !== null ? 'exited' : false;
    },
    { timeoutMs: START_TIMEOUT_MS },
  );
  if (readStackFile(dataDir) === undefined) throw new Error(`the supervisor exited with code ${child.exitCode}`);
}

async function stopSupervisor(child: ChildProcess, logs: () => string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'close');
    child.kill('SIGTERM');
    await exited;
  }
  if (child.signalCode === null && child.exitCode !== 0) {
    throw new Error(`the supervisor ended with code ${child.exitCode}:\n${logs()}`);
  }
}

function childLogs(dataDir: string): string[] {
  const folder = path.join(dataDir, 'logs');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => `--- ${name}\n${readFileSync(path.join(folder, name), 'utf8')}`);
}
