// A fake network: names under `.test` resolve to the addresses that a test sets, and a connection to any of these leads
// to this machine. Everything between, including the address guard, is the real code.
import dns, { type LookupAddress, type LookupAllOptions } from 'node:dns';
import net, { type LookupFunction, type TcpNetConnectOpts } from 'node:net';

export interface FakeInternet {
  /** The names that were resolved, in order. */
  lookups: string[];
  /** The addresses to which sockets should connect, in order. */
  connections: string[];
  /**
   * Sets the addresses of a name. With several lists, each lookup takes the next one, and the last list is repeated.
   */
  resolve: (name: string, ...answers: string[][]) => void;
  /** Leaves lookups of the name without an answer. */
  hang: (name: string) => void;
  /** Drops packets to the address: a connection is neither made nor refused. */
  drop: (address: string) => void;
  close: () => void;
}

type Answer = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

export function startFakeInternet(): FakeInternet {
  const real = { lookup: dns.lookup, connect: net.connect };
  const names = new Map<string, string[][] | 'hangs'>();
  const lookups: string[] = [];
  const connections: string[] = [];
  const dropped = new Set<string>();

  const lookup = (name: string, options: LookupAllOptions, answer: Answer): void => {
    if (!name.endsWith('.test')) return real.lookup(name, options, answer);
    lookups.push(name);
    const answers = names.get(name);
    if (answers === 'hangs') return;
    const addresses = answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0];
    if (addresses === undefined) return answer(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    answer(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) })),
    );
  };
  const connect = (options: TcpNetConnectOpts): net.Socket => {
    const { lookup: given, host = '' } = options;
    if (given === undefined || net.isIP(host) !== 0) connections.push(host);
    if (dropped.has(host)) return new net.Socket();
    const rerouted: LookupFunction = (name, lookupOptions, callback) => {
      given!(name, { ...lookupOptions, all: true }, (error, addresses) => {
        if (error) return callback(error, '', 0);
        connections.push(...(addresses as LookupAddress[]).map(({ address }) => address));
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      });
    };
    return real.connect({ ...options, ...(given && { lookup: rerouted, autoSelectFamily: true }) });
  };
  Object.assign(dns, { lookup });
  Object.assign(net, { connect });
  return {
    lookups,
    connections,
    resolve: (name, ...answers) => void names.set(name, answers),
    hang: (name) => void names.set(name, 'hangs'),
    drop: (address) => void dropped.add(address),
    close: () => void (Object.assign(dns, { lookup: real.lookup }), Object.assign(net, { connect: real.connect })),
  };
}
