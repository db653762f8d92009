// The service on ten hosts: network namespaces of this machine (docs/operate/faults.md).
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { CompiledQuery, sql } from 'kysely';
import { ChildSupervisor, type ChildOptions, type Command } from '../../cli/embedded/child-process.js';
import { ensureLocalUser } from '../../cli/embedded/local-user.js';
import { readOrCreateSecrets, type StackSecrets } from '../../cli/embedded/secrets-file.js';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';
import { createTemporalServer } from '../../cli/embedded/temporal-server.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { migrateToLatest } from '../../db/schema/migrate.js';
import { BRIDGE_ADDRESS, createBridge, HOST_NETWORK, NetworkHost } from '../../harness/hosts/network.js';
import { startPostgresPair, type PostgresPair, type PostgresPlace } from '../../harness/hosts/postgres-pair.js';
import { startRelay, type Relay } from '../../harness/hosts/relay.js';
import { buildTemporal, prepareTemporal } from '../../harness/hosts/temporal-cluster.js';
import { processesOf } from '../../harness/processes/family.js';
import { makeDataDir, OWN_BUILD } from '../../harness/stack/supervisor.js';
import { eventually } from '../../harness/timing/eventually.js';
import { buildS3, isS3Built, s3Command } from '../../test/support/s3-server.js';
import { startOutside, writeProviders } from '../outside.js';
import { isThere } from './programs.js';
import type { Struck } from '../service.js';

const NUMBERS = {
  postgres1: 11,
  postgres2: 12,
  temporal: 21,
  s3: 22,
  api1: 31,
  api2: 32,
  worker1: 41,
  worker2: 42,
  worker3: 43,
  proxy: 51,
} as const;
export type HostName = keyof typeof NUMBERS;
export const APIS = ['api1', 'api2'] as const;
export const WORKERS = ['worker1', 'worker2', 'worker3'] as const;
export type ServiceName = (typeof APIS)[number] | (typeof WORKERS)[number];
export const DATABASES = ['postgres1', 'postgres2'] as const;

export const PORTS = { postgres: 5432, temporal: 7233, s3: 7070, api: 3000, worker: 9464, proxy: 80 };
/** The time limit of a start, a download or a command. Long, because a busy machine may take minutes. */
const READY_MS = 600_000;
const BACK_WITHIN = { timeoutMs: 120_000, intervalMs: 200 };
/** The size of the file system of PostgreSQL's first server. It is small, so that `disk-full` fills it quickly. */
const DISK_MIB = 768;

export interface Bed extends Struck {
  hosts: Record<HostName, NetworkHost>;
  postgres: PostgresPair;
  /** Stops the host's process gracefully and starts it again. `how` may name another build, and add variables. */
  restart: (name: ServiceName, how?: Restart) => Promise<void>;
  /** Kills PostgreSQL's first server and promotes the replica. No further fault can be applied then. */
  promote: () => Promise<void>;
  /** The folder of a build that differs from this one by its version. */
  nextBuild: () => string;
  /** Resolves when each API process and each worker reports that it is ready, and the proxy reaches the API. */
  ready: () => Promise<void>;
  /** The URL that says if the process is ready. The Date header of the answer shows the clock of the process. */
  healthUrl: (name: ServiceName) => string;
  /**
   * Registers `undo`, so that `heal` calls it if the fault fails. Returns a function that calls `undo`, or returns
   * undefined if `undo` was already called.
   */
  registerUndo: <T>(undo: () => T) => () => T | undefined;
}

interface Restart {
  /** The folder of the build. */
  dist?: string;
  env?: Record<string, string>;
}

/** The hosts are created once, and used by the bed of each mode of execution. */
let sharedHosts: Promise<Record<HostName, NetworkHost>> | undefined;

interface BedOptions {
  /** Added to the environment of API and workers. */
  settings: Record<string, string>;
  /**
   * True: Temporal is the development server of `npm start`, which stores in a file. False: the production server,
   * which stores in PostgreSQL.
   */
  isDev: boolean;
  report: (line: string) => void;
}

/**
 * Fetches or builds Temporal's programs and, with Go, the S3 server, if they are missing. Must run outside the
 * namespaces, which have only the bed's network.
 */
export async function prepareBed({ isDev, report }: Omit<BedOptions, 'settings'>): Promise<void> {
  if (!isDev) await buildTemporal(report);
  if (isThere('go')) await buildS3();
  await findCli(report);
}

function findCli(report: BedOptions['report']): Promise<string> {
  const signal = AbortSignal.timeout(READY_MS);
  return findTemporalBinary({ configured: undefined, env: process.env, report, signal });
}

/** Creates the bed in the namespaces that this process has entered. `prepareBed` must have run outside of them. */
export async function createBed({ settings, isDev, report }: BedOptions): Promise<Bed> {
  const folder = makeDataDir();
  const outside = await startOutside();
  const hosts = await (sharedHosts ??= createHosts());
  const children = new Map<string, ChildSupervisor>();
  const logs = path.join(folder, 'logs');
  mkdirSync(logs);
  const start = async (host: HostName, command: Command, options: Pick<ChildOptions, 'isReady'>): Promise<void> => {
    const child = new ChildSupervisor({
      name: host,
      command: hosts[host].command(command),
      logFile: path.join(logs, `${host}.log`),
      readyTimeoutMs: READY_MS,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 60_000,
      onSpawn: () => undefined,
      onRestart: report,
      ...options,
    });
    children.set(host, child);
    await child.start();
  };

  const place = (name: (typeof DATABASES)[number]): PostgresPlace => ({
    name,
    address: hosts[name].address,
    port: PORTS.postgres,
    folder: path.join(folder, name),
    logs,
    toHostCommand: (command) => hosts[name].command(command),
  });
  report('PostgreSQL and its replica are being started');
  mkdirSync(place('postgres1').folder);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=755`, 'disk', place('postgres1').folder]);
  const postgres = await startPostgresPair([place('postgres1'), place('postgres2')], {
    networks: [HOST_NETWORK],
    onRestart: report,
  });
  for (const [index, name] of DATABASES.entries()) children.set(name, postgres.servers[index]!);

  report("Temporal's server is being started");
  const cli = await findCli(report);
  const temporalAddress = `${hosts.temporal.address}:${PORTS.temporal}`;
  const temporal = await (isDev ? devTemporal(path.join(folder, 'temporal'), cli) : clusterOf(postgres, hosts, folder));
  const isHealthy = (): Promise<boolean> => run(cli, ['operator', 'cluster', 'health', '--address', temporalAddress]);
  await start('temporal', temporal, { isReady: isHealthy });
  const namespace = path.resolve(import.meta.dirname, '../../deploy/temporal/setup-namespace.sh');
  await run('sh', [namespace], {
    PATH: `${path.dirname(cli)}:${process.env['PATH']}`,
    HOME: folder,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: 'default',
    NAMESPACE_RETENTION: '7d',
  });

  const store = isS3Built() ? s3Of(hosts, folder) : { FILES_DIR: path.join(folder, 'files') };
  if ('command' in store) {
    const isOpen = (): Promise<boolean> => fetch(store.env.FILES_S3_ENDPOINT).then(() => true);
    await start('s3', store.command, { isReady: isOpen });
  }

  report('API, workers and proxy are being started');
  const providersFile = path.join(folder, 'model-providers.json');
  const relays: Relay[] = [];
  const toHosts = async (url: string): Promise<string> => {
    const port = Number(new URL(url).port);
    relays.push(await startRelay({ listenOn: BRIDGE_ADDRESS, port, to: { host: '127.0.0.1', port }, delayMs: 0 }));
    return url.replace('127.0.0.1', BRIDGE_ADDRESS);
  };
  writeProviders(providersFile, await toHosts(outside.modelUrl));
  const apiUrl = `http://${hosts.proxy.address}`;
  const secrets = readOrCreateSecrets(folder);
  const env: Record<string, string> = {
    PATH: process.env['PATH']!,
    HOST: '0.0.0.0',
    PORT: String(PORTS.api),
    WORKER_METRICS_PORT: String(PORTS.worker),
    DATA_DIR: folder,
    ...('command' in store ? store.env : store),
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: 'default',
    PUBLIC_URL: apiUrl,
    SECRETS_KEY: secrets.SECRETS_KEY,
    JWT_SECRET: secrets.JWT_SECRET,
    INTERNAL_SERVICE_TOKEN: secrets.INTERNAL_SERVICE_TOKEN,
    MODEL_PROVIDERS_FILE: providersFile,
    ALLOW_PRIVATE_NETWORK: 'true',
    ...settings,
  };
  const healthUrl = (name: ServiceName): string =>
    `http://${hosts[name].address}:${isApi(name) ? PORTS.api : PORTS.worker}/readyz`;
  const startService = (name: ServiceName, { dist = OWN_BUILD, env: more = {} }: Restart = {}): Promise<void> => {
    const entry = path.join(dist, isApi(name) ? 'api/main.js' : 'activities/worker/main.js');
    const command = { file: process.execPath, args: ['--enable-source-maps', entry], env: { ...env, ...more } };
    return start(name, command, { isReady: () => answers(healthUrl(name)) });
  };
  const db = createDatabase({ url: postgres.url, poolMax: 4, applicationName: 'faults', onError: () => undefined });
  const apiKey = await setUp(db, folder, secrets);
  await Promise.all([...APIS, ...WORKERS].map((name) => startService(name)));
  await start('proxy', proxyCommand(hosts, folder), { isReady: () => answers(`${apiUrl}/healthz`) });

  let isPromoted = false;
  const undos = new Set<() => unknown>();
  return {
    hosts,
    postgres,
    apiUrl,
    apiKey,
    outside: { targetUrl: await toHosts(outside.targetUrl), toolUrl: await toHosts(outside.toolUrl) },
    countCalls: outside.countCalls,
    folder,
    query: async <Row>(text: string, values: unknown[] = []) =>
      (await db.executeQuery(CompiledQuery.raw(text, values))).rows as Row[],
    healthUrl,
    pids: () => Object.fromEntries([...children].map(([name, { pid }]) => [name, pid])),
    isRunning: () => !isPromoted,
    registerUndo(undo) {
      let isUndone = false;
      const once = (): ReturnType<typeof undo> | undefined => {
        undos.delete(once);
        if (isUndone) return undefined;
        isUndone = true;
        return undo();
      };
      undos.add(once);
      return once;
    },
    async heal() {
      for (const undo of undos) await undo();
    },
    async restart(name, how) {
      await children.get(name)!.stop();
      await startService(name, how);
    },
    async promote() {
      isPromoted = true;
      await postgres.promote();
    },
    nextBuild: () => createNextBuild(path.join(folder, 'next')),
    async ready() {
      const urls = [...APIS, ...WORKERS].map(healthUrl);
      for (const url of [...urls, `${apiUrl}/readyz`]) await eventually(() => answers(url), BACK_WITHIN);
    },
    async close({ keep }) {
      await db.destroy();
      for (const name of ['proxy', ...APIS, ...WORKERS, 's3', 'temporal', ...DATABASES])
        await children.get(name)?.stop();
      for (const relay of relays) relay.close();
      await outside.close();
      await run('umount', [place('postgres1').folder]);
      const left = processesOf(folder);
      if (left.length > 0) throw new Error(`processes were left behind: ${left.join('; ')}`);
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function clusterOf(postgres: PostgresPair, hosts: Bed['hosts'], folder: string): Promise<Command> {
  return prepareTemporal({
    address: hosts.temporal.address,
    database: DATABASES.map((name) => `${hosts[name].address}:${PORTS.postgres}`).join(','),
    password: postgres.password,
    folder: path.join(folder, 'temporal'),
  });
}

/** An S3 server, and the environment of processes that store files in it. */
function s3Of(hosts: Bed['hosts'], folder: string) {
  const root = path.join(folder, 's3');
  mkdirSync(path.join(root, 'files'), { recursive: true });
  const address = `${hosts.s3.address}:${PORTS.s3}`;
  const command = s3Command(root, address);
  return { command, env: { ...command.env, FILES_S3_BUCKET: 'files', FILES_S3_ENDPOINT: `http://${address}` } };
}

/** The server of `npm start`, at all addresses of its host. */
function devTemporal(dataDir: string, binary: string): Command {
  mkdirSync(dataDir);
  const options = {
    binary,
    dataDir,
    port: PORTS.temporal,
    uiPort: PORTS.temporal + 1,
    namespace: 'default',
    env: process.env,
  };
  const { command } = createTemporalServer(options);
  return { ...command, args: command.args.map((arg) => (arg === '127.0.0.1' ? '0.0.0.0' : arg)) };
}

async function createHosts(): Promise<Record<HostName, NetworkHost>> {
  await createBridge();
  const entries = Object.entries(NUMBERS).map(([name, number]) => [name, new NetworkHost(name, number)] as const);
  for (const [, host] of entries) await host.create();
  return Object.fromEntries(entries) as Record<HostName, NetworkHost>;
}

function isApi(name: ServiceName): boolean {
  return name.startsWith('api');
}

async function answers(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(10_000) })).ok;
}

async function run(file: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  await promisify(execFile)(file, args, { env, timeout: READY_MS });
  return true;
}

/** Migrates the database, and creates a user with a key. */
async function setUp(db: Database, folder: string, secrets: StackSecrets): Promise<string> {
  await migrateToLatest(db);
  const { apiKey } = await ensureLocalUser(db, folder, secrets);
  // The clients of a row poll more often than the local user's key allows.
  await sql`UPDATE api_keys SET rate_limit = 1000000`.execute(db);
  return apiKey;
}

/** Copies this build, links `node_modules`, and appends `-next` to the version in package.json. */
function createNextBuild(folder: string): string {
  const root = path.dirname(OWN_BUILD);
  const dist = path.join(folder, 'dist');
  cpSync(OWN_BUILD, dist, { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const { version, ...more } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...more, version: `${version}-next` }));
  return dist;
}

/**
 * Writes the shipped HAProxy configuration with the addresses of the API hosts, and returns the command. HAProxy checks
 * each API process, and sends no requests to one that has failed three checks in a row.
 */
function proxyCommand(hosts: Record<HostName, NetworkHost>, folder: string): Command {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../deploy/haproxy/haproxy.cfg'), 'utf8');
  const servers = APIS.map((name) => `  server ${name} ${hosts[name].address}:${PORTS.api}\n`);
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(file, text.replace(/^ {2}server .*\n/gm, '') + servers.join(''));
  return { file: 'haproxy', args: ['-db', '-f', file], env: { PATH: process.env['PATH'] } };
}
