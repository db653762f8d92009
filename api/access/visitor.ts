// A visitor is known by the address a request comes from. Forwarding headers count only from TRUSTED_PROXIES: anybody
// can write them.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Returns whether the address is that of a trusted proxy. */
export type TrustedProxies = (address: string) => boolean;

/** `networks`: addresses, and networks such as `10.0.0.0/8`. */
export function createTrustedProxies(networks: string[]): TrustedProxies {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

export interface Arrival {
  /** The other end of the connection; empty when it has hung up. */
  peerAddress: string;
  headers: IncomingHttpHeaders;
}

/** A list of forwarding proxies longer than this is nobody's. */
const MAX_HOPS = 32;

/** The client's address: of the proxies' list the last entry that is no trusted proxy itself. */
export function clientAddress({ peerAddress, headers }: Arrival, isTrusted: TrustedProxies): string {
  let address = toAddress(peerAddress) ?? '';
  const hops = String(headers['x-forwarded-for'] ?? '').split(',');
  for (const hop of hops.slice(-MAX_HOPS).toReversed()) {
    if (!isTrusted(address)) return address;
    const before = toAddress(hop);
    if (before === undefined) return address;
    address = before;
  }
  return address;
}

/** Returns whether the client's own connection is encrypted, as far as a trusted proxy says so. */
export function isForwardedHttps({ peerAddress, headers }: Arrival, isTrusted: TrustedProxies): boolean {
  if (!isTrusted(toAddress(peerAddress) ?? '')) return false;
  const [first = ''] = String(headers['x-forwarded-proto'] ?? '').split(',');
  return first.trim().toLowerCase() === 'https';
}

/**
 * Returns the text that counts as one place: an IPv4 address, or the first 64 bits of an IPv6 address, which are one
 * customer's.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const { parts } = ipaddr.IPv6.parse(address.replace(/%.*$/, ''));
  return `${new ipaddr.IPv6([...parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** Proxies add ports, and IPv4 comes inside IPv6; undefined for what is no address. */
function toAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  if (isIP(bare) === 0) return undefined;
  return isIP(bare) === 6 ? ipaddr.process(bare.replace(/%.*$/, '')).toString() : bare;
}

/** Returns for whom memory and processor time are taken: the user, or the network of a caller without credentials. */
export function tenantOf(
  { signIn }: { signIn: { trustedProxies: TrustedProxies } },
  { caller, ...arrival }: Arrival & { caller: { userId: number } | undefined },
): string {
  if (caller !== undefined) return `user:${caller.userId}`;
  return `network:${networkOf(clientAddress(arrival, signIn.trustedProxies))}`;
}
