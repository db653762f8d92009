// Which addresses a user's graph may reach. decisions.md section 11: only public unicast, checked on the address that
// is really connected to, so a name that resolves to an inside address gets no further than the address itself.
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
/** The middle of an ISATAP address (RFC 5214), whose last 32 bits are an IPv4 address of any kind. */
const ISATAP = new Set(['0:5efe', '200:5efe']);

/** Private, loopback, link-local, metadata, CGNAT, reserved, and IPv4 inside IPv6 are not public. */
export function isPublicAddress(address: string): boolean {
  // A zone (`%eth0`) belongs to addresses of one link.
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  // For IPv6 `unicast` leaves out mapped, NAT64, 6to4 and Teredo addresses, which carry an IPv4 address of any kind.
  if (parsed.range() !== 'unicast') return false;
  if (!(parsed instanceof ipaddr.IPv6)) return true;
  const middle = parsed.parts.slice(4, 6).map((part) => part.toString(16));
  return parsed.match(GLOBAL_UNICAST) && !ISATAP.has(middle.join(':'));
}

/**
 * Whether the URL names an address that is not public by itself: a literal one in any notation, or `localhost`. What a
 * name resolves to is known only when connecting.
 */
export function namesPrivateAddress(url: URL): boolean {
  return isPrivateHost(url.hostname);
}

function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  // Not left to the resolver: RFC 6761 gives these names to the machine itself, whether it knows them or not.
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return (isIP(host) !== 0 || ipaddr.isValid(host)) && !isPublicAddress(host);
}

/**
 * Asks once for a connection, and connects to nothing but that answer: a second answer could be another one. A name with
 * public and private addresses is refused whole, so that it never depends on which of them comes first.
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

/** A connector for undici. A host that is an address itself is never looked up, so it is checked here. */
export function createGuardedConnector(allowPrivateNetwork: boolean): buildConnector.connector {
  if (allowPrivateNetwork) return buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup });
  return (options, callback) => {
    if (isPrivateHost(options.hostname)) return callback(notPublic(), null);
    connect(options, callback);
  };
}

/** The same for every reason: neither the address nor what listens there is told. */
function notPublic(): BlockedAddressError {
  return new BlockedAddressError('The address is not public.');
}
