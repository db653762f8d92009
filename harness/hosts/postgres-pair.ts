// Two PostgreSQL servers, of which the second is a synchronous replica of the first.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { ChildSupervisor, type Command } from '../../cli/embedded/child-process.js';
import { createPostgresServer } from '../../cli/embedded/postgres-server.js';
import { eventually } from '../timing/eventually.js';

/** Where a server runs. */
export interface PostgresPlace {
  name: string;
  /** The address at which the server listens. */
  address: string;
  port: number;
  /** The parent of its data folder. */
  folder: string;
  /** Where its log is; in `folder` by default. */
  logs?: string;
  /** Returns the command that runs `command` on the server's host. */
  toHostCommand?: (command: Command) => Command;
}

export interface PostgresPair {
  servers: [primary: ChildSupervisor, replica: ChildSupervisor];
  /** Addresses of the database on each server, for the superuser. */
  urls: [string, string];
  /** Lists both hosts, as DATABASE_URL may. */
  url: string;
  password: string;
  /** Kills the first server, makes the second one take writes, and resolves when it does. */
  promote: () => Promise<void>;
  stop: () => Promise<void>;
}

const DATABASE = 'workflow_automation';
const PASSWORD = 'only-of-this-test-bed';
const REPLICA = 'replica';
const READY_MS = 120_000;
/** Settings in addition to those of `npm start`. If a setting has two values, PostgreSQL uses the last one. */
const SETTINGS = {
  wal_level: 'replica',
  max_wal_senders: '5',
  wal_keep_size: '256MB',
  max_wal_size: '256MB',
  hot_standby: 'on',
  // If the primary hears nothing from its replica for this time, it closes the connection.
  wal_sender_timeout: '10s',
  wal_receiver_timeout: '10s',
};

interface PairOptions {
  /** Networks that may connect in addition to this machine, in the form of pg_hba.conf, such as `10.77.0.0/24`. */
  networks?: string[];
  /** Receives a line when a server has died and is started again. */
  onRestart?: (line: string) => void;
}

export async function startPostgresPair(
  places: [PostgresPlace, PostgresPlace],
  { networks = [], onRestart = () => undefined }: PairOptions = {},
): Promise<PostgresPair> {
  const [first, second] = places;
  const urls = places.map(({ address, port }) => urlOf(`${address}:${port}`)) as PostgresPair['urls'];
  const data = await createData(first, networks);
  // The first start records `wal_level = replica` in the control file. A standby refuses to start from a copy that says
  // `minimal`.
  const once = supervise(first, {}, onRestart);
  await once.start();
  await query(urlOf(`${first.address}:${first.port}`, '', 'postgres'), `CREATE DATABASE ${DATABASE}`);
  await once.stop();
  copyData(data, second);
  const source = `host=${first.address} port=${first.port} user=postgres password=${PASSWORD} application_name=${REPLICA}`;
  const servers: PostgresPair['servers'] = [
    supervise(first, { synchronous_standby_names: REPLICA }, onRestart),
    supervise(second, { primary_conninfo: source }, onRestart),
  ];
  await Promise.all(servers.map((server) => server.start()));
  const replicas = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
  await eventually(async () => (await query(urls[0], replicas)).length === 1, { timeoutMs: READY_MS });
  return {
    servers,
    urls,
    url: urlOf(places.map(({ address, port }) => `${address}:${port}`).join(','), '&target_session_attrs=read-write'),
    password: PASSWORD,
    async promote() {
      servers[0].kill();
      await servers[0].stop();
      await query(urls[1], 'SELECT pg_promote()');
      await eventually(
        async () => (await query(urls[1], 'SHOW transaction_read_only'))[0]!['transaction_read_only'] === 'off',
      );
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function urlOf(hosts: string, options = '', database = DATABASE): string {
  return `postgres://postgres:${PASSWORD}@${hosts}/${database}?sslmode=disable${options}`;
}

/** Creates the data folder of the first server, and lets the networks connect. */
async function createData({ folder }: PostgresPlace, networks: string[]): Promise<string> {
  mkdirSync(folder, { recursive: true });
  await serverIn(folder).prepare();
  const data = path.join(folder, 'postgres');
  const lines = networks.flatMap((network) =>
    ['all', 'replication'].map((database) => `host ${database} all ${network} scram-sha-256\n`),
  );
  appendFileSync(path.join(data, 'pg_hba.conf'), lines.join(''));
  return data;
}

/** Copies the data folder of the first server, which must not be running, for the second one. */
function copyData(from: string, { folder }: PostgresPlace): void {
  mkdirSync(folder, { recursive: true });
  const data = path.join(folder, 'postgres');
  execFileSync('cp', ['-a', from, data]);
  const signal = path.join(data, 'standby.signal');
  writeFileSync(signal, '');
  const { uid, gid } = statSync(data);
  chownSync(signal, uid, gid);
}

function serverIn(folder: string): ReturnType<typeof createPostgresServer> {
  return createPostgresServer({ dataDir: folder, password: PASSWORD, env: process.env });
}

/** Returns a supervisor, which is not started yet and restarts its server when the server dies. */
function supervise(
  place: PostgresPlace,
  settings: Record<string, string>,
  onRestart: (line: string) => void,
): ChildSupervisor {
  const { name, address, port, folder, logs = folder, toHostCommand = (command) => command } = place;
  const server = serverIn(folder);
  const all = { ...SETTINGS, listen_addresses: address, ...settings };
  const { command } = server.on(port);
  const args = [...command.args, ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])];
  return new ChildSupervisor({
    name,
    command: toHostCommand({ ...command, args }),
    logFile: path.join(logs, `${name}.log`),
    beforeStart: () => server.prepare(),
    isReady: async () => (await query(urlOf(`${address}:${port}`, '', 'postgres'), 'SELECT')).length === 1,
    readyTimeoutMs: READY_MS,
    stopSignal: 'SIGINT',
    stopTimeoutMs: 20_000,
    onSpawn: () => undefined,
    onRestart,
  });
}

/** Opens a connection of its own, because a server may have died since the last query. */
async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000, query_timeout: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
