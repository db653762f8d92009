// The embedded PostgreSQL: its data directory, its flags, and the cleanup after a killed stack.
import { execFile } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Command } from './child-process.js';
import { postgresAccount, runAs, type Account } from './postgres-account.js';
import { findPostgresBinaries } from './postgres-binaries.js';
import { commandLine, identifyProcess, processesIn, terminate } from './process-identity.js';
import { StartError } from './start-error.js';

interface PostgresOptions {
  /** An absolute path. */
  dataDir: string;
  password: string;
  /** The source of PATH. */
  env: NodeJS.ProcessEnv;
}

interface PostgresServer {
  /** Creates the data directory on the first start. Stops a server that a killed stack left running on it. */
  prepare: () => Promise<void>;
  on: (port: number) => PostgresAtPort;
}

interface PostgresAtPort {
  url: string;
  command: Command;
  isReady: () => Promise<boolean>;
}

const SUPERUSER = 'postgres';
const DATABASE = 'workflow_automation';
const HOST = '127.0.0.1';
const LEFTOVER_STOP_MS = 10_000;
/** The time for leftover backends to stop; short because they have no clients. */
const BACKEND_STOP_MS = 1_000;

const settings = {
  listen_addresses: HOST,
  // TCP only: a socket directory would have to exist and be writable for the server's account.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // The details and parameters of a failing statement contain customer data, so the log omits them.
  log_error_verbosity: 'terse',
  log_parameter_max_length_on_error: '0',
};

export function createPostgresServer({ dataDir, password, env: parentEnv }: PostgresOptions): PostgresServer {
  const data = path.join(dataDir, 'postgres');
  const binaries = findPostgresBinaries();
  const account = postgresAccount(data);
  const env = { PATH: parentEnv['PATH'], LC_ALL: 'C', TZ: 'UTC' };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const run = (file: string, args: string[]): Command => runAs(account, { file, args, env }, [file, data]);
  const login = { host: HOST, user: SUPERUSER, password, ssl: false, connectionTimeoutMillis: 2_000 };
  return {
    async prepare() {
      if (!existsSync(data)) await initialise(data, password, account, (args) => run(binaries.initdb, args));
      await stopLeftover(data);
    },
    on: (port) => ({
      // An explicit sslmode keeps out a PGSSLMODE that the user has set for other databases.
      url: `postgres://${SUPERUSER}:${password}@${HOST}:${port}/${DATABASE}?sslmode=disable`,
      command: run(binaries.postgres, ['-D', data, '-p', String(port), ...flags]),
      isReady: () => ensureDatabase((database) => new pg.Client({ ...login, port, database })),
    }),
  };
}

/**
 * Creates the directory under another name and renames it when complete, so a killed start leaves no
 * partial directory.
 */
async function initialise(
  data: string,
  password: string,
  account: Account | undefined,
  initdb: (args: string[]) => Command,
): Promise<void> {
  const parent = path.dirname(data);
  for (const name of readdirSync(parent)) {
    if (name.startsWith('postgres-new')) rmSync(path.join(parent, name), { recursive: true, force: true });
  }
  const fresh = `${data}-new`;
  const passwordFile = `${data}-new.password`;
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account !== undefined) for (const file of [fresh, passwordFile]) chownSync(file, account.uid, account.gid);
  const args = ['--pgdata', fresh, '--pwfile', passwordFile, '--username', SUPERUSER, '--auth', 'scram-sha-256'];
  // The builtin provider has the case mapping of Unicode on every machine, whatever locales are installed.
  const locale = ['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'];
  const { file, args: allArgs, ...options } = initdb([...args, ...locale]);
  try {
    await promisify(execFile)(file, allArgs, options);
    renameSync(fresh, data);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new StartError(`PostgreSQL could not make its data directory ${data}: ${(stderr || message).trim()}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/**
 * Stops a server that a killed supervisor left, and backends that a killed server left. The backends end by
 * themselves, but PostgreSQL refuses to start until then.
 *
 * PostgreSQL would refuse forever if the pid in its file now belonged to another process or a zombie. So this
 * process's pid is written to the file: PostgreSQL accepts its parent's pid, and still checks for surviving backends.
 */
async function stopLeftover(data: string): Promise<void> {
  const pidFile = path.join(data, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const [pidLine, ...rest] = readFileSync(pidFile, 'utf8').split('\n');
  const leftover = identifyProcess(Number(pidLine));
  if (leftover !== undefined && commandLine(leftover.pid).includes(data)) {
    await terminate(leftover, 'SIGINT', LEFTOVER_STOP_MS);
  }
  const backends = processesIn(data);
  await Promise.all(backends.map((backend) => terminate(backend, 'SIGQUIT', BACKEND_STOP_MS)));
  if (existsSync(pidFile)) writeFileSync(pidFile, [process.pid, ...rest].join('\n'));
}

async function ensureDatabase(connect: (database: string) => pg.Client): Promise<boolean> {
  const client = connect('postgres');
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    return true;
  } finally {
    await client.end();
  }
}
