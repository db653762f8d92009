// The addresses that requests of users may reach: only public unicast addresses unless ALLOW_PRIVATE_NETWORK is set,
// and never those of BLOCKED_ADDRESSES.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface AddressRules {
  allowPrivateNetwork: boolean;
  /** Addresses and networks (`10.0.0.0/8`) that are always refused. */
  blockedNetworks?: readonly string[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** The address of Azure's metadata and agent service looks public. */
const ALWAYS_BLOCKED = ['168.63.129.16'];

/**
 * Returns true if the URL's host is a refused address in any notation. Blocked addresses are always refused. Unless
 * private networks are allowed, `localhost`, names below it and all addresses that are not public are refused too:
 * private, loopback, link-local, metadata, CGNAT and reserved ones, and IPv6 addresses that contain an IPv4 address.
 * The addresses of any other name are known only when connecting (address-guard.ts).
 */
export function namesRefusedAddress(url: URL, rules: AddressRules): boolean {
  return isRefusedHost(url.hostname, createRules(rules));
}

export interface Rules {
  allowPrivateNetwork: boolean;
  blocked: Network[];
}

export function createRules({ allowPrivateNetwork, blockedNetworks = [] }: AddressRules): Rules {
  return { allowPrivateNetwork, blocked: [...ALWAYS_BLOCKED, ...blockedNetworks].map(toNetwork) };
}

function toNetwork(text: string): Network {
  const [address, prefix] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= 96;
  return isMapped ? [address.toIPv4Address(), prefix - 96] : [address, prefix];
}

export function isRefused(text: string, { allowPrivateNetwork, blocked }: Rules): boolean {
  if (!ipaddr.isValid(text)) return true;
  const address = ipaddr.parse(text);
  if (!allowPrivateNetwork && !isPublic(text, address)) return true;
  const reached = address instanceof ipaddr.IPv6 ? [address, ...embeddedIpv4(address)] : [address];
  return blocked.some((network) => reached.some((each) => each.kind() === network[0].kind() && each.match(network)));
}

function isPublic(text: string, address: Address): boolean {
  // An address with a zone (`%eth0`) is valid on one link only.
  if (text.includes('%')) return false;
  // `unicast` excludes mapped, NAT64, 6to4 and Teredo addresses of IPv6, which contain an IPv4 address of any kind.
  if (address.range() !== 'unicast') return false;
  if (!(address instanceof ipaddr.IPv6)) return true;
  return address.match(GLOBAL_UNICAST) && !isIsatap(address);
}

export function isRefusedHost(hostname: string, rules: Rules): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  // RFC 6761 reserves these names for the local machine, whatever the resolver answers.
  if (host === 'localhost' || host.endsWith('.localhost')) return !rules.allowPrivateNetwork;
  return (isIP(host) !== 0 || ipaddr.isValid(host)) && isRefused(host, rules);
}

/** The middle groups of an ISATAP address (RFC 5214). */
const ISATAP = new Set(['0:5efe', '200:5efe']);
/** IPv4-compatible, IPv4-mapped (RFC 4291), IPv4-translated (RFC 2765), and NAT64 (RFC 6052, RFC 8215). */
const IN_LAST_BITS = ['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((text) =>
  ipaddr.IPv6.parseCIDR(text),
);
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');
const TEREDO = ipaddr.IPv6.parseCIDR('2001::/32');

/** Returns the IPv4 addresses to which packets for this IPv6 address may be translated or tunnelled. */
function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const [, first = 0, second = 0, , , , last = 0, end = 0] = address.parts;
  if (IN_LAST_BITS.some((network) => address.match(network)) || isIsatap(address)) return [toIpv4(last, end)];
  if (address.match(SIX_TO_FOUR)) return [toIpv4(first, second)];
  // Teredo (RFC 4380) contains the server's address, and the client's address with its bits inverted.
  if (address.match(TEREDO)) return [toIpv4(second, address.parts[3]!), toIpv4(last ^ 0xffff, end ^ 0xffff)];
  return [];
}

/** Returns true if the last 32 bits are an IPv4 address by the rules of ISATAP, which has no prefix of its own. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const middle = address.parts.slice(4, 6).map((part) => part.toString(16));
  return ISATAP.has(middle.join(':'));
}

function toIpv4(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
