// Decides which addresses a user's graph may reach: without ALLOW_PRIVATE_NETWORK only public unicast addresses, and
// never those of BLOCKED_ADDRESSES. The check applies to the address that is connected to, so a name that resolves to a
// refused address is refused like the address itself.
import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { embeddedIpv4, isIsatap } from './embedded-ipv4.js';

export class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';
  readonly code = 'blocked_address';
}

export interface AddressRules {
  allowPrivateNetwork: boolean;
  /** Addresses and networks (`10.0.0.0/8`) that are refused in any case. */
  blockedNetworks?: readonly string[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const CONNECT_TIMEOUT_MS = 10_000;
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** Azure's metadata and agent service has an address that looks public. */
const ALWAYS_BLOCKED = ['168.63.129.16'];

/**
 * Returns false for private, loopback, link-local, metadata, CGNAT and reserved addresses, and for IPv4 inside IPv6.
 */
export function isPublicAddress(address: string): boolean {
  return !isRefused(address, createRules({ allowPrivateNetwork: false }));
}

/**
 * Returns whether the URL's host is a refused address in any notation, or `localhost` where private addresses are
 * refused. The addresses of a name are known only when connecting.
 */
export function namesRefusedAddress(url: URL, rules: AddressRules): boolean {
  return isRefusedHost(url.hostname, createRules(rules));
}

interface Rules {
  allowPrivateNetwork: boolean;
  blocked: Network[];
}

function createRules({ allowPrivateNetwork, blockedNetworks = [] }: AddressRules): Rules {
  return { allowPrivateNetwork, blocked: [...ALWAYS_BLOCKED, ...blockedNetworks].map(toNetwork) };
}

function toNetwork(text: string): Network {
  const [address, prefix] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= 96;
  return isMapped ? [address.toIPv4Address(), prefix - 96] : [address, prefix];
}

function isRefused(text: string, { allowPrivateNetwork, blocked }: Rules): boolean {
  if (!ipaddr.isValid(text)) return true;
  const address = ipaddr.parse(text);
  if (!allowPrivateNetwork && !isPublic(text, address)) return true;
  const reached = address instanceof ipaddr.IPv6 ? [address, ...embeddedIpv4(address)] : [address];
  return blocked.some((network) => reached.some((each) => each.kind() === network[0].kind() && each.match(network)));
}

function isPublic(text: string, address: Address): boolean {
  // An address with a zone (`%eth0`) belongs to one link.
  if (text.includes('%')) return false;
  // For IPv6, `unicast` excludes mapped, NAT64, 6to4 and Teredo addresses, which carry an IPv4 address of any kind.
  if (address.range() !== 'unicast') return false;
  if (!(address instanceof ipaddr.IPv6)) return true;
  return address.match(GLOBAL_UNICAST) && !isIsatap(address);
}

function isRefusedHost(hostname: string, rules: Rules): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  // RFC 6761 reserves these names for the local machine, whatever the resolver says.
  if (host === 'localhost' || host.endsWith('.localhost')) return !rules.allowPrivateNetwork;
  return (isIP(host) !== 0 || ipaddr.isValid(host)) && isRefused(host, rules);
}

/**
 * Resolves a name once per connection and connects only to that answer, because a second answer could differ. A name
 * with allowed and refused addresses is refused entirely, so that the result never depends on their order.
 */
function createGuardedLookup(rules: Rules): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (first === undefined || addresses.some(({ address }) => isRefused(address, rules))) {
        return callback(notPublic(), '', 0);
      }
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/** Creates a connector for undici. A host that is an address is never looked up, so it is checked here. */
export function createGuardedConnector(addressRules: AddressRules): buildConnector.connector {
  const rules = createRules(addressRules);
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: createGuardedLookup(rules) });
  return (options, callback) => {
    if (isRefusedHost(options.hostname, rules)) return callback(notPublic(), null);
    connect(options, callback);
  };
}

/** The message is the same for every reason, so that it reveals neither the address nor what listens there. */
function notPublic(): BlockedAddressError {
  return new BlockedAddressError('The address is not public.');
}
