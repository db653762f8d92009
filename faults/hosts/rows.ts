// The faults of several hosts. Each fault counts its effect, and fails if the count is 0.
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BRIDGE_ADDRESS, type Rules } from '../../harness/hosts/network.js';
import { startRelay } from '../../harness/hosts/relay.js';
import { eventually } from '../../harness/timing/eventually.js';
import type { Fault } from '../fault.js';
import { withFile } from '../shapes.js';
import type { HitDescription, Stage } from '../stage.js';
import { APIS, DATABASES, PORTS, WORKERS, type Bed, type HostName, type ServiceName } from './bed.js';
import { clockEnvironment, type Program } from './programs.js';

export interface HostFault extends Fault<Bed> {
  /** The programs that the fault needs in addition to those that all these faults need (programs.ts). */
  needs: Program[];
}

const CUT_MS = 20_000;
const SLOW_MS = 20_000;
const DELAY_MS = 200;
const LOSS_PERCENT = 5;
const EVERYTHING: Rules = { in: 'iifname eth0', out: 'oifname eth0' };

/** The effect of the loss of a host on the calls of nodes and on the API. */
const EFFECTS: Record<HostName, Pick<HitDescription, 'cuts' | 'apiDown'>> = {
  // Until the proxy has detected the loss, it also sends requests to the lost API process.
  api1: { cuts: 'nothing', apiDown: true },
  api2: { cuts: 'nothing', apiDown: true },
  worker1: { cuts: 'calls', apiDown: false },
  worker2: { cuts: 'calls', apiDown: false },
  worker3: { cuts: 'calls', apiDown: false },
  temporal: { cuts: 'calls', apiDown: false },
  // Temporal, too, stores its data there, except with --dev-temporal. Each commit waits for the replica (postgres2).
  postgres1: { cuts: 'calls', apiDown: true },
  postgres2: { cuts: 'calls', apiDown: true },
  proxy: { cuts: 'nothing', apiDown: true },
  // A GET whose answer becomes a file is made again.
  s3: { cuts: 'calls', apiDown: false },
};

const LABELS: Record<HostName, string> = {
  api1: 'an API host',
  api2: 'the other API host',
  worker1: 'a worker host',
  worker2: 'another worker host',
  worker3: 'the third worker host',
  temporal: 'the host of Temporal',
  postgres1: 'the host of PostgreSQL',
  postgres2: 'the host of the synchronous replica',
  proxy: 'the host of the proxy',
  s3: 'the host of the store of files',
};

/** Drops packets on a host for a while, and counts them. */
async function dropFor(
  stage: Stage<Bed>,
  host: HostName,
  rules: Rules[],
  description: Omit<HitDescription, 'ends'>,
): Promise<void> {
  const { world } = stage;
  await stage.hit({ ...description, ends: [] }, async () => {
    const end = world.registerUndo(await world.hosts[host].drop(...rules));
    await pause(CUT_MS);
    stage.count('packets dropped', (await end()) ?? 0);
    await world.ready();
  });
}

const cutOff: HostFault[] = (['api1', 'worker1', 'temporal', 'postgres1', 'postgres2', 'proxy'] as const).map(
  (host) => ({
    name: `cut-${host}`,
    title: `${LABELS[host]} cut off for ${CUT_MS / 1000} s`,
    spreadMs: CUT_MS / 2,
    needs: ['nft'],
    apply: (stage) => dropFor(stage, host, [EVERYTHING], { what: `the cut of ${host}`, ...EFFECTS[host] }),
  }),
);

const RUNS_WITH_FILES = 5;

const cutStore: HostFault = {
  name: 'cut-s3',
  title: `${LABELS.s3} (S3) cut off for ${CUT_MS / 1000} s`,
  spreadMs: CUT_MS / 2,
  needs: ['nft', 'an S3 server, which Go builds'],
  async apply(stage) {
    const { world } = stage;
    const start = async (): Promise<void> => {
      for (let runs = 0; runs < RUNS_WITH_FILES; runs++) await stage.start(withFile(world.outside));
    };
    await start();
    await stage.hit({ what: 'the cut of s3', ...EFFECTS.s3, ends: [] }, async () => {
      const end = world.registerUndo(await world.hosts.s3.drop(EVERYTHING));
      await start();
      await pause(CUT_MS);
      stage.count('packets dropped', (await end()) ?? 0);
      await world.ready();
    });
  },
};

/** Returns rules that drop the packets that a host exchanges with others: received ones, sent ones, or both. */
function between({ hosts }: Bed, others: readonly HostName[], ways: ('in' | 'out')[]): Rules {
  const addresses = `{ ${others.map((name) => hosts[name].address).join(', ')} }`;
  return {
    ...(ways.includes('in') && { in: `ip saddr ${addresses}` }),
    ...(ways.includes('out') && { out: `ip daddr ${addresses}` }),
  };
}

interface Partition {
  name: string;
  title: string;
  host: HostName;
  from: readonly HostName[];
  ways: ('in' | 'out')[];
  effects?: Pick<HitDescription, 'cuts' | 'apiDown'>;
}

const partitions: HostFault[] = (
  [
    {
      name: 'worker-without-postgres',
      title: 'a worker that reaches Temporal and not PostgreSQL',
      host: 'worker1',
      from: DATABASES,
      ways: ['in', 'out'],
    },
    {
      name: 'worker-without-temporal',
      title: 'a worker that reaches PostgreSQL and not Temporal',
      host: 'worker1',
      from: ['temporal'],
      ways: ['in', 'out'],
    },
    {
      name: 'worker-deaf',
      title: 'a worker that Temporal and PostgreSQL do not answer: what they send is lost',
      host: 'worker1',
      from: ['temporal', ...DATABASES],
      ways: ['in'],
    },
    {
      name: 'worker-mute',
      title: 'a worker whose packets do not reach Temporal and PostgreSQL',
      host: 'worker1',
      from: ['temporal', ...DATABASES],
      ways: ['out'],
    },
    {
      name: 'api-mute',
      title: 'an API host whose packets do not reach PostgreSQL',
      host: 'api1',
      from: DATABASES,
      ways: ['out'],
    },
    {
      name: 'api-without-temporal',
      title: 'an API host that does not reach Temporal',
      host: 'api1',
      from: ['temporal'],
      ways: ['in', 'out'],
      effects: { cuts: 'nothing', apiDown: false },
    },
  ] satisfies Partition[]
).map(({ name, title, host, from, ways, ...more }: Partition) => ({
  name,
  title,
  spreadMs: CUT_MS / 2,
  needs: ['nft'],
  apply: (stage) =>
    dropFor(stage, host, [between(stage.world, from, ways)], { what: name, ...EFFECTS[host], ...more.effects }),
}));

const loss: HostFault[] = (['api1', 'worker1', 'temporal', 'postgres1'] as const).map((host) => ({
  name: `loss-${host}`,
  title: `${LABELS[host]} loses ${LOSS_PERCENT} % of its packets`,
  spreadMs: CUT_MS / 2,
  needs: ['nft'],
  apply: (stage) => {
    const some = `numgen random mod 100 < ${LOSS_PERCENT}`;
    const rules: Rules = { in: `iifname eth0 ${some}`, out: `oifname eth0 ${some}` };
    return dropFor(stage, host, [rules], { what: `the losses of ${host}`, cuts: 'nothing', apiDown: false });
  },
}));

interface Link {
  from: HostName;
  to: HostName;
  port: number;
  title: string;
}

/**
 * Ends the server processes of a client's connections. The redirect resets only the client's side, so PostgreSQL would
 * keep these processes and their locks.
 */
const TERMINATE_BACKENDS = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_addr = $1::inet';

const slow: HostFault[] = (
  [
    { from: 'api1', to: 'postgres1', port: PORTS.postgres, title: 'an API host and PostgreSQL' },
    { from: 'api1', to: 'temporal', port: PORTS.temporal, title: 'an API host and Temporal' },
    { from: 'worker1', to: 'postgres1', port: PORTS.postgres, title: 'a worker host and PostgreSQL' },
    { from: 'worker1', to: 'temporal', port: PORTS.temporal, title: 'a worker host and Temporal' },
    { from: 'temporal', to: 'postgres1', port: PORTS.postgres, title: 'Temporal and PostgreSQL' },
    { from: 'postgres2', to: 'postgres1', port: PORTS.postgres, title: 'the synchronous replica and PostgreSQL' },
    { from: 'proxy', to: 'api1', port: PORTS.api, title: 'the proxy and an API host' },
  ] satisfies Link[]
).map(({ from, to, port, title }) => ({
  name: `slow-${from}-${to}`,
  title: `${DELAY_MS} ms each way between ${title}`,
  spreadMs: SLOW_MS / 2,
  needs: ['nft'],
  apply: (stage) => slowDown(stage, { from, to, port }),
}));

/** Sends connections through a relay with a delay. Open connections break when the delay begins and when it ends. */
async function slowDown(stage: Stage<Bed>, { from, to, port }: Omit<Link, 'title'>): Promise<void> {
  const { world } = stage;
  const [near, far] = [world.hosts[from], world.hosts[to]];
  const { cuts, apiDown } = EFFECTS[from];
  await stage.hit(
    { what: `the slow link of ${from}`, cuts, apiDown: apiDown || from === 'temporal', ends: [] },
    async () => {
      const relay = await startRelay({ listenOn: BRIDGE_ADDRESS, to: { host: far.address, port }, delayMs: DELAY_MS });
      const close = world.registerUndo(() => relay.close());
      const detour = { address: BRIDGE_ADDRESS, port: relay.port };
      const end = world.registerUndo(await near.redirect({ address: far.address, port }, detour));
      if (port === PORTS.postgres) await world.query(TERMINATE_BACKENDS, [near.address]);
      await pause(SLOW_MS);
      stage.count('connections over the slow link', relay.connections());
      // The relay closes before the redirect is removed, so that the kernel still translates the closing packets and
      // both sides receive them.
      close();
      await end();
      await world.ready();
    },
  );
}

/**
 * A firewall that has lost its state drops the packets of open connections without notice to either side. New
 * connections work.
 */
const forgotten: HostFault[] = (
  [
    { from: 'api1', to: 'postgres1', port: PORTS.postgres, title: 'an API host and PostgreSQL' },
    { from: 'api1', to: 'temporal', port: PORTS.temporal, title: 'an API host and Temporal' },
    { from: 'worker1', to: 'postgres1', port: PORTS.postgres, title: 'a worker host and PostgreSQL' },
    { from: 'worker1', to: 'temporal', port: PORTS.temporal, title: 'a worker host and Temporal' },
  ] satisfies Link[]
).map(({ from, to, port, title }) => ({
  name: `forget-${from}-${to}`,
  title: `a firewall forgets the connections between ${title}`,
  spreadMs: CUT_MS / 2,
  needs: ['nft'],
  async apply(stage) {
    const { hosts } = stage.world;
    const { address } = hosts[to];
    const ports = (await hosts[from].portsTo({ address, port })).join(', ');
    const rules: Rules = {
      in: `ip saddr ${address} tcp sport ${port} tcp dport { ${ports} }`,
      out: `ip daddr ${address} tcp dport ${port} tcp sport { ${ports} }`,
    };
    await dropFor(stage, from, [rules], { what: `the forgotten connections of ${from}`, ...EFFECTS[from] });
  },
}));

/** Returns by how many hours the clock of a process is ahead, rounded; negative if it is behind. */
async function hoursAhead({ healthUrl }: Bed, name: ServiceName): Promise<number> {
  const { headers } = await fetch(healthUrl(name));
  return Math.round((Date.parse(headers.get('date')!) - Date.now()) / 3_600_000);
}

const clocks: HostFault[] = (['api1', 'worker1'] as const).flatMap((name) =>
  [1, -1].map((hours) => ({
    name: `clock-${name}-${hours === 1 ? 'ahead' : 'behind'}`,
    title: `the clock of ${LABELS[name]} is an hour ${hours === 1 ? 'ahead' : 'behind'}`,
    spreadMs: CUT_MS,
    needs: ['faketime'] as Program[],
    async apply(stage: Stage<Bed>) {
      const { world } = stage;
      const what = `the clock of ${name}`;
      // The process is stopped gracefully, so no call is cut.
      await stage.hit({ what, cuts: 'nothing', apiDown: APIS.includes(name as never), ends: [name] }, async () => {
        await world.restart(name, { env: clockEnvironment(hours) });
        const moved = await hoursAhead(world, name);
        await pause(CUT_MS);
        await world.restart(name);
        stage.count(`hour ${hours === 1 ? 'ahead' : 'behind'}`, Math.abs(moved));
        await world.ready();
      });
    },
  })),
);

/** Applies the fault, and counts the connections that the host refuses or breaks off on the port meanwhile. */
async function countingRefused(
  stage: Stage<Bed>,
  [host, port]: [HostName, number],
  description: HitDescription,
  act: () => Promise<void>,
): Promise<void> {
  const { world } = stage;
  await stage.hit(description, async () => {
    const end = world.registerUndo(await world.hosts[host].countRefused(port));
    await act();
    await world.ready();
    stage.count('connections refused or broken off', (await end()) ?? 0);
  });
}

/** Counts the matches of `words` in the log of PostgreSQL's first server. */
function inLog({ folder }: Bed, words: RegExp): number {
  return readFileSync(path.join(folder, 'logs/postgres1.log'), 'utf8').match(words)?.length ?? 0;
}

const ENDED_BY_RESTART = /terminating connection due to administrator command/g;
const NO_ROOM = /No space left on device/gi;

const restartOfPostgres: HostFault = {
  name: 'restart-postgres',
  title: 'PostgreSQL is restarted',
  needs: [],
  async apply(stage) {
    const { world } = stage;
    const before = inLog(world, ENDED_BY_RESTART);
    const description: HitDescription = {
      what: 'the restart of PostgreSQL',
      ...EFFECTS.postgres1,
      ends: ['postgres1'],
    };
    await stage.hit(description, async () => {
      const { postgres1: pid } = world.pids();
      process.kill(pid!, 'SIGINT');
      await eventually(() => ![pid, undefined].includes(world.pids()['postgres1']));
      await world.ready();
      stage.count('connections ended', inLog(world, ENDED_BY_RESTART) - before);
    });
  },
};

const fullDisk: HostFault = {
  name: 'disk-full',
  title: `the disk of PostgreSQL is full for ${CUT_MS / 1000} s`,
  spreadMs: CUT_MS / 2,
  needs: [],
  async apply(stage) {
    const { world } = stage;
    const ballast = path.join(world.folder, 'postgres1/ballast');
    const before = inLog(world, NO_ROOM);
    // PostgreSQL exits if it cannot write its WAL, and its supervisor starts it again.
    await stage.hit({ what: 'the full disk', ...EFFECTS.postgres1, ends: ['postgres1'] }, async () => {
      const empty = world.registerUndo(() => rmSync(ballast, { force: true }));
      fill(ballast);
      await pause(CUT_MS);
      empty();
      stage.count('writes refused', inLog(world, NO_ROOM) - before);
      await world.ready();
      // An API process counts as ready even if it refuses changes.
      for (const name of APIS) await eventually(() => takesChanges(world, name));
    });
  },
};

/** Sends a change that is refused as invalid by an API process that takes changes. */
async function takesChanges({ hosts, apiKey }: Bed, name: ServiceName): Promise<boolean> {
  const url = `http://${hosts[name].address}:${PORTS.api}/api/v1/projects/`;
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).status === 400;
}

/** Writes a file until the disk is full. */
function fill(file: string): void {
  const piece = Buffer.alloc(64 * 1024);
  const descriptor = openSync(file, 'w');
  try {
    for (;;) writeSync(descriptor, piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
}

const upgrade: HostFault = {
  name: 'rolling-upgrade',
  title: 'each API host and each worker host goes to the next build, one after the other',
  spreadMs: CUT_MS,
  needs: ['nft'],
  apply: (stage) => {
    const hosts = [...APIS, ...WORKERS];
    // The proxy sends requests to a stopped API process until three checks, one every two seconds, have failed.
    const description: HitDescription = { what: 'the rolling upgrade', cuts: 'nothing', apiDown: true, ends: hosts };
    return countingRefused(stage, ['api1', PORTS.api], description, async () => {
      const dist = stage.world.nextBuild();
      for (const name of hosts) await stage.world.restart(name, { dist });
    });
  },
};

/** Must be the last of `hostFaults`, because PostgreSQL's first server is not started again. */
const promotion: HostFault = {
  name: 'promote-replica',
  title: 'the host of PostgreSQL dies, and the replica is promoted',
  spreadMs: 10_000,
  needs: ['nft'],
  apply: (stage) => {
    const description: HitDescription = { what: 'the promotion', ...EFFECTS.postgres1, ends: ['postgres1'] };
    return countingRefused(stage, ['postgres1', PORTS.postgres], description, () => stage.world.promote());
  },
};

export const hostFaults: HostFault[] = [
  ...cutOff,
  cutStore,
  ...partitions,
  ...slow,
  ...forgotten,
  ...loss,
  ...clocks,
  restartOfPostgres,
  fullDisk,
  upgrade,
  promotion,
];
