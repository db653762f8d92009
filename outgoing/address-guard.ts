// Which addresses a user's graph may reach. decisions.md section 11: only public unicast, checked on the address that
// is really connected to, so a name that resolves to an inside address gets no further than the address itself.
import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

export class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';
  readonly code = 'blocked_address';
}

const CONNECT_TIMEOUT_MS = 10_000;
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Private, loopback, link-local, metadata, CGNAT, reserved, and IPv4 inside IPv6 are not public. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  // For IPv6 `unicast` leaves out mapped, NAT64, 6to4 and Teredo addresses, which carry an IPv4 address of any kind.
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST));
}

/**
 * Whether the URL names an address that is not public by itself: a literal one in any notation, or `localhost`. What a
 * name resolves to is known only when connecting.
 */
export function namesPrivateAddress(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return ipaddr.isValid(host) && !isPublicAddress(host);
}

const guardedLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const open = addresses.filter(({ address }) => isPublicAddress(address));
    if (open.length === 0) return callback(new BlockedAddressError('The address is not public.'), '', 0);
    if (options.all) return callback(null, open);
    callback(null, open[0]!.address, open[0]!.family);
  });
};

/** A connector for undici. A host that is an address itself is never looked up, so it is checked here. */
export function createGuardedConnector(allowPrivateNetwork: boolean): buildConnector.connector {
  if (allowPrivateNetwork) return buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (ipaddr.isValid(host) && !isPublicAddress(host)) {
      return callback(new BlockedAddressError('The address is not public.'), null);
    }
    connect(options, callback);
  };
}
