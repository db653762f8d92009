// Identifies a visitor by the address that a request comes from. Forwarding headers count only from TRUSTED_PROXIES,
// because anybody can write them.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
  /** The address of the peer; empty if the peer has hung up. */
  peerAddress: string;
  headers: IncomingHttpHeaders;
}

/** No real chain of proxies is longer than this. */
const MAX_HOPS = 32;

/**
 * Returns the client's address: the peer, or while the address found so far is a trusted proxy, the next entry of
 * `X-Forwarded-For` from its end. A malformed entry ends the search. Empty if the peer has hung up.
 */
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

/** True if a trusted proxy reports that the client's own connection is encrypted. */
export function isForwardedHttps({ peerAddress, headers }: Arrival, isTrusted: TrustedProxies): boolean {
  if (!isTrusted(toAddress(peerAddress) ?? '')) return false;
  const [first = ''] = String(headers['x-forwarded-proto'] ?? '').split(',');
  return first.trim().toLowerCase() === 'https';
}

/**
 * Returns the network that counts as one visitor: an IPv4 address, or the first 64 bits of an IPv6 address, because an
 * internet provider assigns all addresses with these bits to one customer.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const { parts } = ipaddr.IPv6.parse(address.replace(/%.*$/, ''));
  return `${new ipaddr.IPv6([...parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** Returns undefined for malformed addresses. Proxies add ports, and send IPv4 inside IPv6. */
function toAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  if (isIP(bare) === 0) return undefined;
  return isIP(bare) === 6 ? ipaddr.process(bare.replace(/%.*$/, '')).toString() : bare;
}

/**
 * Returns the owner to whom memory and processor time are accounted: the user, or for a request without a user the
 * network that it comes from.
 */
export function tenantOf(
  { signIn }: { signIn: { trustedProxies: TrustedProxies } },
  { caller, ...arrival }: Arrival & { caller: { userId: number } | undefined },
): string {
  if (caller !== undefined) return `user:${caller.userId}`;
  return `network:${networkOf(clientAddress(arrival, signIn.trustedProxies))}`;
}
