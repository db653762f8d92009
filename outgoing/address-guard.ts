// Decides which addresses a user's graph may reach: only public unicast addresses. The check applies to the address
// that is connected to, so a name that resolves to a private address is refused like the address itself.
import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

export class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';
  readonly code = 'blocked_address';
}

const CONNECT_TIMEOUT_MS = 10_000;
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** The middle groups of an ISATAP address (RFC 5214), whose last 32 bits are an IPv4 address of any kind. */
const ISATAP = new Set(['0:5efe', '200:5efe']);

/**
 * Returns false for private, loopback, link-local, metadata, CGNAT and reserved addresses, and for IPv4 inside IPv6.
 */
export function isPublicAddress(address: string): boolean {
  // An address with a zone (`%eth0`) belongs to one link.
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  // For IPv6, `unicast` excludes mapped, NAT64, 6to4 and Teredo addresses, which carry an IPv4 address of any kind.
  if (parsed.range() !== 'unicast') return false;
  if (!(parsed instanceof ipaddr.IPv6)) return true;
  const middle = parsed.parts.slice(4, 6).map((part) => part.toString(16));
  return parsed.match(GLOBAL_UNICAST) && !ISATAP.has(middle.join(':'));
}

/**
 * Returns whether the URL's host is a non-public address in any notation, or `localhost`. The addresses of a name are
 * known only when connecting.
 */
export function namesPrivateAddress(url: URL): boolean {
  return isPrivateHost(url.hostname);
}

function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  // RFC 6761 reserves these names for the local machine, whatever the resolver says.
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return (isIP(host) !== 0 || ipaddr.isValid(host)) && !isPublicAddress(host);
}

/**
 * Resolves a name once per connection and connects only to that answer, because a second answer could differ. A name
 * with public and private addresses is refused entirely, so that the result never depends on their order.
 */
const guardedLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(notPublic(), '', 0);
    }
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};

/** Creates a connector for undici. A host that is an address is never looked up, so it is checked here. */
export function createGuardedConnector(allowPrivateNetwork: boolean): buildConnector.connector {
  if (allowPrivateNetwork) return buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup });
  return (options, callback) => {
    if (isPrivateHost(options.hostname)) return callback(notPublic(), null);
    connect(options, callback);
  };
}

/** The message is the same for every reason, so that it reveals neither the address nor what listens there. */
function notPublic(): BlockedAddressError {
  return new BlockedAddressError('The address is not public.');
}
