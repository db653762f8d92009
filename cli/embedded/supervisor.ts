// Runs the stack under one process: PostgreSQL, Temporal, the API and the worker
// (docs/operate/operations.md, "`npm start`").
import path from 'node:path';
import { loadCurrencies } from '../../config/currencies.js';
import { parseEnvironment, type Environment } from '../../config/environment.js';
import { loadModelProviders } from '../../config/model-providers.js';
import { demoModel } from '../samples/samples.js';
import { startSampleTargets } from '../samples/samples-file.js';
import { startSandboxProvider } from '../sandbox/model-provider.js';
import { childEnvironment, withSecrets, type StackAddresses } from './child-environment.js';
import { ChildSupervisor, type ChildOptions } from './child-process.js';
import { warningOf } from './child-log.js';
import { openDataDirectory, type DataDirectory } from './data-directory.js';
import { setUpDatabase } from './database-setup.js';
import { createPostgresServer } from './postgres-server.js';
import { removeSandboxProviderFile, writeSandboxProviderFile } from './sandbox-provider-file.js';
import { readOrCreateSecrets, type StackSecrets } from './secrets-file.js';
import { removeStackFile, writeStackFile, type ChildName, type StackFile } from './stack-file.js';
import { checkNamedPorts, stackPorts, startOnPorts, type StackPorts } from './stack-ports.js';
import { findTemporalBinary } from './temporal-binary.js';
import { createTemporalServer } from './temporal-server.js';

interface StackOptions {
  env: NodeJS.ProcessEnv;
  /** Receives a line for the user at each step. */
  report: (line: string) => void;
  /** Receives warnings and errors of the API and the worker, and notices of restarts of all children. */
  warn: (line: string) => void;
}

type ChildSettings = Omit<ChildOptions, 'name' | 'logFile' | 'onSpawn' | 'onRestart'>;

const CHILD_NAMES: ChildName[] = ['api', 'worker', 'temporal', 'postgres'];
const DIST = path.resolve(import.meta.dirname, '../..');
/** API and worker drain within 15 s; the rest is for a busy machine. */
const DRAIN_MS = 17_000;
/**
 * Temporal's dev server can lose its only history shard permanently if its SQLite file is too slow. The server then
 * still runs and answers, but knows no namespace. From the first to the sixth failure at least 50 s pass; a busy
 * machine recovers sooner.
 */
const TEMPORAL_LIVENESS = { everyMs: 10_000, timeoutMs: 5_000, failures: 6 };

export class Stack {
  readonly #options: StackOptions;
  readonly #children = new Map<ChildName, ChildSupervisor>();
  readonly #aborted = new AbortController();
  /** Released in reverse order. */
  readonly #releasers: (() => Promise<void> | void)[] = [];
  #directory: DataDirectory | undefined;
  #file: StackFile | undefined;
  #starting: Promise<StackFile> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: StackOptions) {
    this.#options = options;
  }

  /**
   * Resolves when everything is ready. Rejects with StartError or ConfigError for what the user can mend, and otherwise
   * with the error of the system, such as that of a full disk; after `stop`, with any error. Whatever the error,
   * nothing is left running when the promise rejects.
   */
  async start(): Promise<StackFile> {
    this.#starting = this.#start();
    try {
      return await this.#starting;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops each part after the parts that use it. May be called at any time, and repeatedly. */
  stop(): Promise<void> {
    this.#aborted.abort();
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Kills the children, for a second Ctrl-C while `stop` is running. */
  kill(): void {
    for (const child of this.#children.values()) child.kill();
  }

  async #start(): Promise<StackFile> {
    const { env } = this.#options;
    const environment = parseEnvironment(env);
    const directory = await openDataDirectory(environment.dataDir);
    this.#directory = directory;
    this.#releasers.push(() => directory.release());
    const secrets = readOrCreateSecrets(directory.path);
    const completed = withSecrets(env, secrets);
    const { internalServiceToken, secretsKeys } = checkSettings(completed);
    const samples = { base_url: await this.#startSampleTargets(directory.path), model: demoModel(environment) };
    const ports = stackPorts(environment, env);
    await checkNamedPorts(ports);
    const namespace = env['TEMPORAL_NAMESPACE'] || 'default';
    const [databaseUrl, temporal] = await this.#together([
      this.#startPostgres(environment, secrets, ports),
      this.#startTemporal(environment, ports, namespace),
    ]);
    const user = await setUpDatabase(databaseUrl, {
      dataDir: directory.path,
      secrets,
      secretsKeys,
      samples,
      environment,
    });
    const modelProviders = { MODEL_PROVIDERS_FILE: await this.#modelProvidersFile(environment) };
    const apiUrl = await startOnPorts([ports.api, ports.workerMetrics], async (api, workerMetrics) => {
      const url = localUrl(environment.host, api);
      const addresses: StackAddresses = { apiUrl: url, databaseUrl, temporalNamespace: namespace, ...temporal };
      const childEnv = childEnvironment(completed, environment, { api, workerMetrics }, addresses);
      await this.#startServices({ ...childEnv, ...modelProviders }, url, workerMetrics);
      return url;
    });
    this.#file = {
      api_url: apiUrl,
      api_key: user.apiKey,
      user_id: user.userId,
      temporal_address: temporal.temporalAddress,
      temporal_namespace: namespace,
      temporal_ui_url: temporal.temporalUiUrl,
      database_url: databaseUrl,
      internal_token: internalServiceToken ?? '',
      configured_secrets: (['SECRETS_KEY', 'JWT_SECRET'] as const).filter((name) => completed[name] !== secrets[name]),
      pids: this.#pids(),
    };
    writeStackFile(directory.path, this.#file);
    this.#releasers.push(() => removeStackFile(directory.path));
    return this.#file;
  }

  async #startPostgres(environment: Environment, secrets: StackSecrets, ports: StackPorts): Promise<string> {
    if (ports.postgres === undefined) return environment.databaseUrl!;
    const dataDir = this.#directory!.path;
    const password = secrets.postgres_password;
    const postgres = createPostgresServer({ dataDir, password, env: this.#options.env });
    await postgres.prepare();
    return startOnPorts([ports.postgres], async (port) => {
      const server = postgres.on(port);
      await this.#startChild('postgres', `PostgreSQL on port ${port}`, {
        command: server.command,
        beforeStart: postgres.prepare,
        isReady: server.isReady,
        readyTimeoutMs: 60_000,
        // SIGINT is PostgreSQL's fast shutdown; after SIGTERM it would wait for its clients.
        stopSignal: 'SIGINT',
        stopTimeoutMs: 15_000,
      });
      return server.url;
    });
  }

  async #startTemporal(
    environment: Environment,
    ports: StackPorts,
    namespace: string,
  ): Promise<Pick<StackAddresses, 'temporalAddress' | 'temporalUiUrl'>> {
    const { env, report } = this.#options;
    if (ports.temporal === undefined) {
      return { temporalAddress: env['TEMPORAL_ADDRESS']!, temporalUiUrl: environment.temporalUiUrl ?? '' };
    }
    const configured = environment.temporalCli;
    const binary = await findTemporalBinary({ configured, env, report, signal: this.#aborted.signal });
    return startOnPorts(ports.temporal, async (port, uiPort) => {
      const server = createTemporalServer({ binary, dataDir: this.#directory!.path, port, uiPort, namespace, env });
      await this.#startChild('temporal', `Temporal on ${server.address}, its UI on ${server.uiUrl}`, {
        command: server.command,
        isReady: server.isReady,
        readyTimeoutMs: 60_000,
        liveness: TEMPORAL_LIVENESS,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 10_000,
      });
      return { temporalAddress: server.address, temporalUiUrl: environment.temporalUiUrl ?? server.uiUrl };
    });
  }

  /** The targets run in this process as long as the stack runs. */
  async #startSampleTargets(dataDir: string): Promise<string> {
    const targets = await startSampleTargets(dataDir);
    this.#releasers.push(() => targets.close());
    return targets.url;
  }

  /**
   * Without MODEL_PROVIDERS_FILE and OPENAI_API_KEY, starts the sandbox provider, which runs in this process as long as
   * the stack runs.
   */
  async #modelProvidersFile(environment: Environment): Promise<string | undefined> {
    const dataDir = this.#directory!.path;
    if (environment.modelProvidersFile !== undefined) return environment.modelProvidersFile;
    if (environment.openaiApiKey !== undefined) return undefined;
    const sandbox = await startSandboxProvider();
    this.#releasers.push(() => sandbox.close());
    this.#releasers.push(() => removeSandboxProviderFile(dataDir));
    this.#options.report(
      'Model provider: the sandbox stand-in (model sandbox-echo); set OPENAI_API_KEY for a real one',
    );
    return writeSandboxProviderFile(dataDir, sandbox.url);
  }

  async #startServices(env: NodeJS.ProcessEnv, apiUrl: string, workerMetricsPort: number): Promise<void> {
    const service = (name: ChildName, entry: string, readyUrl: string): ChildSettings => ({
      command: { file: process.execPath, args: ['--enable-source-maps', path.join(DIST, entry)], env },
      isReady: async () => (await fetch(readyUrl, { signal: AbortSignal.timeout(2_000) })).ok,
      readyTimeoutMs: 60_000,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: DRAIN_MS,
      onLine: (line) => {
        const warning = warningOf(name, line);
        if (warning !== undefined) this.#options.warn(warning);
      },
    });
    const workerReady = `http://127.0.0.1:${workerMetricsPort}/readyz`;
    const started = await Promise.allSettled([
      this.#startChild('api', `API on ${apiUrl}`, service('api', 'api/main.js', `${apiUrl}/readyz`)),
      this.#startChild('worker', 'Worker', service('worker', 'activities/worker/main.js', workerReady)),
    ]);
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) return;
    // API and worker have the API's port in their environment, so a start on other ports must start both again.
    await Promise.all([this.#children.get('api')?.stop(), this.#children.get('worker')?.stop()]);
    throw failed.reason;
  }

  async #startChild(name: ChildName, label: string, settings: ChildSettings): Promise<void> {
    const directory = this.#directory!;
    this.#aborted.signal.throwIfAborted();
    const startedAt = Date.now();
    const child = new ChildSupervisor({
      ...settings,
      name,
      logFile: directory.logFile(name),
      onSpawn: () => this.#recordPids(),
      onRestart: this.#options.warn,
    });
    this.#children.set(name, child);
    try {
      await child.start();
    } catch (error) {
      await child.stop();
      throw error;
    }
    this.#options.report(`${label} is ready (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  }

  /** Rejects with the first failure, but only after all have settled, so that nothing is still starting then. */
  async #together<T extends unknown[]>(promises: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
    let failure: { reason: unknown } | undefined;
    for (const promise of promises as Promise<unknown>[]) {
      promise.catch((reason: unknown) => {
        failure ??= { reason };
        this.#aborted.abort();
      });
    }
    await Promise.allSettled(promises);
    if (failure !== undefined) throw failure.reason;
    return Promise.all(promises);
  }

  #pids(): Partial<Record<ChildName, number>> {
    const pids = CHILD_NAMES.map((name) => [name, this.#children.get(name)?.pid] as const);
    return Object.fromEntries(pids.filter(([, pid]) => pid !== undefined));
  }

  /** Never throws: a process that has started must not count as failed because a full disk takes no record of it. */
  #recordPids(): void {
    const pids = this.#pids();
    if (this.#file !== undefined) this.#file = { ...this.#file, pids };
    try {
      this.#directory?.recordChildren(pids);
      if (this.#file !== undefined && !this.#aborted.signal.aborted) writeStackFile(this.#directory!.path, this.#file);
    } catch (error) {
      this.#options.warn(`The ids of the processes could not be stored: ${String(error)}`);
    }
  }

  async #stop(): Promise<void> {
    if (this.#directory !== undefined) removeStackFile(this.#directory.path);
    await Promise.all([this.#children.get('api')?.stop(), this.#children.get('worker')?.stop()]);
    await this.#children.get('temporal')?.stop();
    await this.#children.get('postgres')?.stop();
    // A start in progress notices the stop. Wait for the start, so that what it started last is released too.
    await this.#starting?.catch(() => undefined);
    for (const release of this.#releasers.toReversed()) await release();
  }
}

/** Returns the address at which this machine reaches a server that listens on `host`. */
function localUrl(host: string, port: number): string {
  const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`;
}

/**
 * Checks, before any child starts, most settings that the children would otherwise refuse one by one in their logs.
 * Throws ConfigError.
 */
function checkSettings(env: NodeJS.ProcessEnv): Environment {
  const environment = parseEnvironment(env);
  loadModelProviders(environment, env);
  loadCurrencies(environment);
  return environment;
}
