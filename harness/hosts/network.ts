// Hosts as network namespaces, joined by a bridge in the namespace of this process. Everything is in namespaces that
// end with this process, so nothing is left on the machine.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Command } from '../../cli/embedded/child-process.js';

const run = promisify(execFile);
const NETWORK = '10.77.0';
/** The address of the bridge, at which the hosts reach this process. */
export const BRIDGE_ADDRESS = `${NETWORK}.1`;
/** The network of all hosts. */
export const HOST_NETWORK = `${NETWORK}.0/24`;
const INSIDE = 'INSIDE_NAMESPACES';

interface Address {
  address: string;
  port: number;
}

/** Rules of nftables for packets that a host receives or sends. */
export interface Rules {
  in?: string;
  out?: string;
}

/**
 * Returns true inside the namespaces. Otherwise calls `prepare`, which can still use the machine's network, then
 * executes the command of this process again in new network, mount and process namespaces, takes over its exit code
 * and returns false. SIGINT or SIGTERM to this process ends everything in the namespaces.
 */
export async function enterNamespaces(prepare: () => Promise<void>): Promise<boolean> {
  if (process.env[INSIDE] === '1') return true;
  await prepare();
  const spaces = ['--net', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const [, script = '', ...args] = process.argv;
  const child = spawn('unshare', [...spaces, process.execPath, ...process.execArgv, script, ...args], {
    env: { ...process.env, [INSIDE]: '1' },
    stdio: 'inherit',
  });
  // SIGKILL, because `unshare --fork` ignores SIGINT and SIGTERM.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGKILL'));
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
  return false;
}

/** Creates the bridge. Call once, inside the namespaces. */
export async function createBridge(): Promise<void> {
  mkdirSync('/run/netns', { recursive: true });
  // The names of namespaces are files, which other processes of the machine must not see.
  await run('mount', ['-t', 'tmpfs', 'hosts', '/run/netns']);
  await ip('link set lo up');
  await ip('link add switch type bridge');
  await ip(`addr add ${BRIDGE_ADDRESS}/24 dev switch`);
  await ip('link set switch up');
}

export class NetworkHost {
  readonly name: string;
  readonly address: string;

  /** `number` is the last part of its address. */
  constructor(name: string, number: number) {
    this.name = name;
    this.address = `${NETWORK}.${number}`;
  }

  async create(): Promise<void> {
    const { name, address } = this;
    await ip(`netns add ${name}`);
    await ip(`link add to-${name} type veth peer name eth0 netns ${name}`);
    await ip(`link set to-${name} master switch up`);
    await ip(`-n ${name} link set lo up`);
    await ip(`-n ${name} addr add ${address}/24 dev eth0`);
    await ip(`-n ${name} link set eth0 up`);
  }

  /** Returns the command that runs `command` on this host. */
  command({ file, args, env, uid, gid }: Command): Command {
    const account = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
    return { file: 'ip', args: ['netns', 'exec', this.name, ...account, file, ...args], env };
  }

  /** Drops the packets that match. Returns a function that ends this and returns the number of dropped packets. */
  async drop(...rules: Rules[]): Promise<() => Promise<number>> {
    const lines = (of: (rule: Rules) => string | undefined): string =>
      rules
        .flatMap((rule) => of(rule) ?? [])
        .map((match) => `${match} counter name struck drop\n`)
        .join('');
    await this.#nft([
      'table inet fault {',
      'counter struck { }',
      `chain arriving { type filter hook input priority 0\n ${lines((rule) => rule.in)} }`,
      `chain leaving { type filter hook output priority 0\n ${lines((rule) => rule.out)} }`,
      '}',
    ]);
    return () => this.#end('inet fault');
  }

  /** Counts the connections to the port that are refused or broken off, until the returned function is called. */
  async countRefused(port: number): Promise<() => Promise<number>> {
    const refusal = `tcp sport ${port} tcp flags & (rst | ack) == (rst | ack)`;
    await this.#nft([
      'table inet refused {',
      'counter struck { }',
      `chain leaving { type filter hook output priority 0\n ${refusal} counter name struck\n }`,
      '}',
    ]);
    return () => this.#end('inet refused');
  }

  /** Returns the local ports of the open connections to an address. */
  async portsTo({ address, port }: Address): Promise<number[]> {
    const filter = ['-Htn', 'state', 'established', 'dst', `${address}:${port}`];
    const { stdout } = await run('ip', ['netns', 'exec', this.name, 'ss', ...filter]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => Number(line.trim().split(/\s+/)[2]!.split(':').at(-1)));
  }

  /**
   * Sends connections to `to` through `by` instead. Connections that are open break with the next packet. Returns a
   * function that ends the redirect and returns the number of packets that opened connections.
   */
  async redirect(to: Address, by: Address): Promise<() => Promise<number>> {
    await this.#nft([
      'table ip detour {',
      'counter struck { }',
      'chain leaving { type nat hook output priority -100',
      `ip daddr ${to.address} tcp dport ${to.port} counter name struck dnat to ${by.address}:${by.port}`,
      '}',
      // The kernel does not translate connections that it has seen before, such as those of an earlier redirect, so
      // they are reset.
      'chain breaking { type filter hook output priority 0',
      `ip daddr ${to.address} tcp dport ${to.port} reject with tcp reset`,
      '}',
      '}',
    ]);
    return () => this.#end('ip detour');
  }

  /** Removes the table, and returns how many packets its rules have counted. */
  async #end(table: string): Promise<number> {
    const { stdout } = await run('ip', ['netns', 'exec', this.name, 'nft', '-j', 'list', 'table', ...table.split(' ')]);
    const { nftables } = JSON.parse(stdout) as { nftables: { counter?: { packets: number } }[] };
    await this.#nft([`delete table ${table}`]);
    return nftables.reduce((sum, { counter }) => sum + (counter?.packets ?? 0), 0);
  }

  async #nft(lines: string[]): Promise<void> {
    await run('ip', ['netns', 'exec', this.name, 'nft', `${lines.join('\n')}\n`]);
  }
}

function ip(args: string): Promise<unknown> {
  return run('ip', args.split(' '));
}
