// Temporal's server on PostgreSQL, as it runs in production, built once from the Go module proxy.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { dynamicConfig } from '../../cli/embedded/temporal-server.js';
import type { Command } from '../../cli/embedded/child-process.js';

const VERSION = 'v1.29.1';
const MODULE = 'go.temporal.io/server/cmd';
const CACHE = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
/** A folder of its own, because the names of the programs are `server` and `sql`. */
const FOLDER = path.join(CACHE, 'workflow-automation', `temporal-server-${VERSION}`);
const SERVER = path.join(FOLDER, 'server');
const SQL_TOOL = path.join(FOLDER, 'sql');
const STORES = [
  { database: 'temporal', schema: 'postgresql/v12/temporal' },
  { database: 'temporal_visibility', schema: 'postgresql/v12/visibility' },
];
/** Ports of gRPC and membership. */
const SERVICES = { frontend: [7233, 6933], matching: [7235, 6935], history: [7234, 6934], worker: [7239, 6939] };

export const isTemporalBuilt = (): boolean => existsSync(SERVER) && existsSync(SQL_TOOL);

/** Compiles the server and the SQL tool, which takes several minutes. */
export async function buildTemporal(report: (line: string) => void): Promise<void> {
  if (isTemporalBuilt()) return;
  report(`Temporal's server ${VERSION} is being built, once, which takes minutes`);
  mkdirSync(FOLDER, { recursive: true });
  const modules = ['server', 'tools/sql'].map((name) => `${MODULE}/${name}@${VERSION}`);
  const go = spawn('nice', ['-n', '10', 'go', 'install', ...modules], {
    env: { ...process.env, GOBIN: FOLDER, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve, reject) => go.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`go install of Temporal's server ended with code ${String(code)}`);
}

interface ClusterOptions {
  /** The address at which the server listens. */
  address: string;
  /** The hosts of PostgreSQL with ports, comma-separated; the first one takes writes now. */
  database: string;
  password: string;
  /** The folder for its configuration. */
  folder: string;
}

/** Creates Temporal's tables, and returns the command that starts the server. */
export async function prepareTemporal({ address, database, password, folder }: ClusterOptions): Promise<Command> {
  const [host = '', port = ''] = database.split(',')[0]!.split(':');
  const tool = ['--plugin', 'postgres12_pgx', '--ep', host, '-p', port, '-u', 'postgres', '--pw', password];
  for (const store of STORES) {
    const run = (...args: string[]) => promisify(execFile)(SQL_TOOL, [...tool, '--db', store.database, ...args]);
    await run('create-database', '--defaultdb', 'postgres');
    await run('setup-schema', '-v', '0.0');
    await run('update-schema', '--schema-name', store.schema);
  }
  mkdirSync(folder, { recursive: true });
  const dynamic = Object.entries(dynamicConfig).map(([key, value]) => [key, [{ value }]]);
  const dynamicFile = path.join(folder, 'dynamic.yaml');
  // JSON is valid YAML.
  writeFileSync(dynamicFile, JSON.stringify(Object.fromEntries(dynamic)));
  writeFileSync(
    path.join(folder, 'hosts.yaml'),
    JSON.stringify(configuration({ address, database, password }, dynamicFile)),
  );
  return {
    file: SERVER,
    args: ['--root', folder, '--config', '.', '--env', 'hosts', '--allow-no-auth', 'start'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TZ: 'UTC' },
  };
}

function configuration({ address, database, password }: Omit<ClusterOptions, 'folder'>, dynamicFile: string): object {
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12_pgx',
      databaseName,
      connectAddr: database,
      connectProtocol: 'tcp',
      connectAttributes: { target_session_attrs: 'read-write', connect_timeout: '5' },
      user: 'postgres',
      password,
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const services = Object.entries(SERVICES).map(([name, [grpcPort, membershipPort]]) => [
    name,
    { rpc: { grpcPort, membershipPort, bindOnIP: address } },
  ]);
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 16,
      datastores: { default: store('temporal', 40), visibility: store('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: address } },
    services: Object.fromEntries(services),
    publicClient: { hostPort: `${address}:${SERVICES.frontend[0]}` },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: `${address}:7233` },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicFile, pollInterval: '60s' },
  };
}
